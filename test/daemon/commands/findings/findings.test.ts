/** `postern findings`, with a daemon in this process. */
import { readFile } from 'node:fs/promises'
import { PassThrough } from 'node:stream'
import test from '#test'
import { observed } from '#core/findings/finding.ts'
import { factsOf, findingKinds } from '#core/findings/kinds.ts'
import { loadConfig } from '#config/settings/load.ts'
import { parseCommandLine } from '../../../../daemon/commands/command-line.ts'
import { findings } from '../../../../daemon/commands/findings/findings-command.ts'
import { adminKey, startFixture, type Fixture } from '../../../admin-api/rest/fixture/rest-fixture.ts'
import { openFindings } from '../../../admin-api/rest/insights/finding-requests.ts'

/** Runs the command with the given options; returns its output. */
async function printed({ address }: Fixture, ...options: readonly string[]): Promise<string> {
  const command = parseCommandLine(['findings', '--url', `http://${address}`, '--key', adminKey, ...options])
  if (command.name !== 'findings') throw new Error(JSON.stringify(command))
  const stdout = new PassThrough()
  const config = loadConfig({ env: {}, readFile: () => '' })
  const code = await findings(config, command.args, { env: {}, stdout })
  return `${String(code)} ${String(stdout.read())}`
}

test('postern findings: prints open findings with severity, title and time, errors first', async (t) => {
  const fixture = await startFixture(t)
  const { daemon, organizationId } = fixture
  t.is(await printed(fixture), '0 No open findings.\n')
  const project = String((await fixture.rest.must('GET', '/v1/projects/me'))['project_id'])
  const other = await fixture.addProject()
  const parked = observed('webhook.parked', 'whk_1', { count: 3, name: 'Order system' }, project)
  await openFindings(daemon, organizationId, [parked, observed('webhook.failing', 'whk_2', { name: 'CRM' }, other)])
  const at = new Date(fixture.clock.now()).toISOString().slice(0, 16).replace('T', ' ')
  const titles = (text: string) => text.split('\n').filter((line) => line.includes('since'))
  t.deepEqual(titles(await printed(fixture)), [
    `0 error   CRM isn't getting events (webhook.failing), since ${at}`,
    `error   3 events for Order system are parked (webhook.parked), since ${at}`,
  ])
  t.deepEqual(titles(await printed(fixture, '--project', project)), [
    `0 error   3 events for Order system are parked (webhook.parked), since ${at}`,
  ])
  const asJson = await printed(fixture, '--json')
  t.like(JSON.parse(asJson.slice(2)), { data: [{ kind: 'webhook.failing' }, { kind: 'webhook.parked' }] })
})

test('postern findings --over: prints ended findings with both times', async (t) => {
  const fixture = await startFixture(t)
  const { daemon, organizationId, clock } = fixture
  await openFindings(daemon, organizationId, [observed('domain.spf', 'example.ch', { domain: 'example.ch', state: 'missing' })])
  clock.advance(3_600_000)
  await openFindings(daemon, organizationId, [])
  t.regex(await printed(fixture, '--over'), /^0 warning example\.ch has no SPF record \(domain\.spf\), \S+ \d\d:\d\d to \S+ \d\d:\d\d\n/)
  t.is(await printed(fixture), '0 No open findings.\n')
})

test('chapter: lists every kind that members see, with its severity, group and problem', async (t) => {
  const chapter = await readFile('admin-api/docs/findings.md', 'utf8')
  const rows = chapter.split('\n').flatMap((line) => (line.startsWith('| `') ? [cellsOf(line)] : []))
  const listed = rows.filter(({ length }) => length === 4) // another table has the fields of a resource's health
  t.deepEqual(
    listed.map((row) => row.slice(0, 3)),
    findingKinds
      .filter((kind) => factsOf(kind).audience !== 'operator')
      .map((kind) => [`\`${kind}\``, factsOf(kind).severity, factsOf(kind).group]),
  )
  for (const [kind, , , problem] of listed) t.regex(problem ?? '', /^[A-Z].*\w$/, kind)
})

const cellsOf = (row: string): readonly string[] =>
  row
    .split('|')
    .map((cell) => cell.trim())
    .slice(1, -1)
