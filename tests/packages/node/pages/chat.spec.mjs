import { expect, test } from '@playwright/test';

async function say(page, text) {
  await page.goto('/');
  await page.getByPlaceholder('Say something').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

test('a retry passes although the failed attempt already used the turn', async ({ page }, { retry }) => {
  await say(page, 'Hello');
  await expect(page.getByRole('main')).toHaveText('Good morning');
  expect(retry).toBe(1);
});

test('a miss that the page hides is in the report', async ({ page }) => {
  await say(page, 'Hallo');
  await expect(page.getByRole('main')).toHaveText('Something went wrong, please try again.');
});
