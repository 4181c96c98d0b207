/** The page that a browser shows at the address of the MCP endpoint. It explains how to connect an agent. */
import type { Answer } from '../operation/answer.ts'
import { html } from '../pages/layout/html.ts'
import { page } from '../pages/layout/layout.ts'

/** Returns the page. `url` is the public address of the endpoint. */
export const endpointPage = (url: string): Answer =>
  page({
    title: 'MCP endpoint',
    width: 'wide',
    content: html`<div class="sheet">
      <h1>MCP endpoint for agents</h1>
      <p>
        This is the MCP endpoint of Postern, for agents and not for browsers. An agent that is connected to it can set up providers, send
        mail into a sandbox or for real, and find out its outcome.
      </p>
      <p class="target"><code>${url}</code></p>
      <h2>Connect an agent</h2>
      <p>Give the agent this address as a remote MCP server (streamable HTTP). It then asks you to sign in and to choose a project.</p>
      <dl>
        <dt>Claude Code</dt>
        <dd class="target"><code>claude mcp add --transport http postern ${url}</code></dd>
        <dt>Codex</dt>
        <dd class="target"><code>codex mcp add postern --url ${url}</code></dd>
        <dt>VS Code</dt>
        <dd class="target"><code>code --add-mcp '{"name":"postern","type":"http","url":"${url}"}'</code></dd>
        <dt>Cursor and other clients with a JSON configuration file</dt>
        <dd class="target"><code>{"mcpServers": {"postern": {"url": "${url}"}}}</code></dd>
        <dt>Clients that only run local programs (stdio)</dt>
        <dd class="target"><code>{"mcpServers": {"postern": {"command": "npx", "args": ["mcp-remote", "${url}"]}}}</code></dd>
      </dl>
      <p class="meta">You can review and revoke the access of applications under <a href="/settings/agents">Settings, Agents</a>.</p>
    </div>`,
  })
