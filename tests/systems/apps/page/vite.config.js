// The page asks the agent under its own address, as behind any reverse proxy.
const agent = { '/api': process.env.AGENT };

export default { preview: { proxy: agent }, server: { proxy: agent } };
