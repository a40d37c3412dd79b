import { expect, test } from '@playwright/test';

async function say(page, text) {
  await page.goto('/');
  await page.getByPlaceholder('Say something').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

test('an attempt that fails after the model was asked is made again', async ({ page }, { retry }) => {
  await say(page, 'Hello');
  await expect(page.getByRole('main')).toHaveText('Good morning');
  expect(retry).toBe(1);
});

test('what was never recorded is told by the report alone', async ({ page }) => {
  await say(page, 'Hallo');
  await expect(page.getByRole('main')).toHaveText('Something went wrong, please try again.');
});
