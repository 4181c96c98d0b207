/** The conformance suite of the protocol: all scenarios that need no preparation on the server, in both eras. */
import { execFile } from 'node:child_process'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from '#test'
import { temporaryFolder } from '../../../support/daemon/workspace.ts'
import { proxyWith } from './agent-proxy.ts'
import { startMcp } from '../mcp-fixture.ts'

const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'))
const run = promisify(execFile)

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
  readonly details?: { readonly untestable?: boolean }
}

const legacy = ['server-initialize', 'ping', 'tools-list', 'resources-list', 'prompts-list', 'dns-rebinding-protection']
const modern = [
  ...['server-stateless', 'tools-list', 'resources-list', 'prompts-list', 'caching', 'sep-2164-resource-not-found'],
  ...['http-header-validation', 'dns-rebinding-protection'],
]

/** Checks of `server-stateless` that call diagnostic tools. A product does not have these, so the checks fail as `untestable`. */
const needingTools = new Set([
  ...['sep-2575-server-rejects-undeclared-capability', 'sep-2575-missing-capability-http-400'],
  ...['sep-2575-http-server-no-independent-requests-on-stream', 'sep-2575-server-no-log-without-loglevel'],
])

/** Check that warns without a diagnostic tool that changes the list; `live.test.ts` tests such a change. */
const needingChange = 'sep-2575-server-sends-tools-list-changed-on-subscription'

const scenarios = [
  ...legacy.map((scenario) => ['2025-11-25', scenario] as const),
  ['2025-11-25', 'server-session-lifecycle'] as const,
  ...modern.map((scenario) => ['2026-07-28', scenario] as const),
]

for (const [version, scenario] of scenarios)
  test(`${version}: ${scenario}`, async (t) => {
    const fixture = await startMcp(t)
    const url = await proxyWith(t, fixture, await fixture.tokenOf())
    await using folder = await temporaryFolder('conformance')
    const given = ['server', '--url', url, '--scenario', scenario, '--spec-version', version, '-o', folder.path]
    await run(process.execPath, [suite, ...given]).catch(() => {}) // the checks are evaluated below
    const checks = await checksIn(folder.path)
    t.true(checks.length > 0)
    for (const { id, status, errorMessage, details } of checks) {
      if (needingTools.has(id)) t.true(details?.untestable, id)
      else if (id === needingChange) t.not(status, 'FAILURE')
      else t.regex(status, /^(?:SUCCESS|INFO|SKIPPED)$/, `${id}: ${errorMessage ?? ''} ${JSON.stringify(details)}`)
    }
    t.deepEqual(fixture.failures, [])
  })

async function checksIn(folder: string): Promise<readonly Check[]> {
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('checks.json'))
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))
  return texts.flatMap((text) => JSON.parse(text) as Check[])
}
