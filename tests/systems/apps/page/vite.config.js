// The page sends its requests to its own address, and this proxy forwards them to the agent, as any reverse proxy would.
const agent = { '/api': process.env.AGENT };

export default { preview: { proxy: agent }, server: { proxy: agent } };
