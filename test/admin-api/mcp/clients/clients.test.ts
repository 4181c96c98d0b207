/** The MCP inspector checks the schemas of all tools. `flows/agents/getting-in.test.ts` tests the sign-in of clients. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from '#test'
import { temporaryFolder } from '../../../support/daemon/workspace.ts'
import { proxyWith } from './agent-proxy.ts'
import { startMcp } from '../mcp-fixture.ts'
import { specifiedTools } from '../specified-tools.ts'

const toolCount = Object.keys(specifiedTools).length

const run = promisify(execFile)
const inspector = fileURLToPath(import.meta.resolve('@modelcontextprotocol/inspector/clients/cli/build/index.js'))

for (const era of ['legacy', 'modern'])
  test(`${era}: the inspector accepts the schemas of all tools`, async (t) => {
    const fixture = await startMcp(t)
    const url = await proxyWith(t, fixture, await fixture.tokenOf())
    await using folder = await temporaryFolder('inspector')
    const given = ['--cli', url, '--transport', 'http', '--method', 'tools/list', '--strict', '--protocol-era', era, '--format', 'json']
    const env = { PATH: process.env['PATH'], HOME: folder.path }
    const { stdout, stderr } = await run(process.execPath, [inspector, ...given], { env, maxBuffer: 16 * 1024 * 1024 })
    t.is(stderr, '')
    t.is(stdout.match(/"inputSchema"/g)?.length, toolCount)
  })
