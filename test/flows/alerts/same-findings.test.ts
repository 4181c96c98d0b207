/** REST, GraphQL, the overview, agents, the doctor, its command and metrics show the same open findings of organizations. */
import test from '#test'
import { doctor } from '../../../daemon/commands/doctor.ts'
import { writeOperatorFile } from '../../../daemon/process/operator-file.ts'
import { operatorLink } from '#core/people/sign-in/operator-link.ts'
import { factsOf, severities, type FindingKind, type Severity } from '#core/findings/kinds.ts'
import { bootDataOf } from '../../admin-api/pages/boot-data.ts'
import { PageClient } from '../../admin-api/pages/page-client.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { operatorToken, type StartedDaemon } from '../../support/daemon/start-daemon.ts'
import { builtDashboard } from '../../support/web/built.ts'
import { agentToken, callTool } from './agent-call.ts'
import { AlertedDaemon, minute, operatorKey, ownerAddress } from './alerted-daemon.ts'

interface Reported {
  readonly id: FindingKind
  readonly severity: Severity
}

const isForBoth = (kind: unknown): kind is FindingKind => factsOf(kind as FindingKind).audience === 'both'
const kindsOf = (list: unknown, field: 'id' | 'kind'): readonly FindingKind[] =>
  (list as readonly Record<'id' | 'kind', FindingKind>[])
    .map((one) => one[field])
    .filter(isForBoth)
    .toSorted()

const baseUrl = 'https://post.example.ch'

/** Returns the kinds that `postern doctor` prints. */
async function byCommand({ addresses, config }: StartedDaemon): Promise<readonly Reported[]> {
  const [host = '', port] = addresses.http.split(':')
  const listeners = { http: { host, port: Number(port) }, https: [], acme: [], submission: [], submissions: [], mx: [], sites: [] }
  await writeOperatorFile(config.dataDir, listeners, operatorToken)
  const printed: string[] = []
  await doctor(config, true, { write: (text: string) => printed.push(text) })
  return (JSON.parse(printed.join('')) as { readonly findings: readonly Reported[] }).findings
}

/** Returns the kinds that the page of the overview contains. */
async function byOverview({ addresses, database, clock }: StartedDaemon): Promise<readonly FindingKind[]> {
  await builtDashboard()
  const link = async (email: string): Promise<string> => baseUrl + (await operatorLink(database, clock, email))
  const owner = new PageClient({ url: `http://${addresses.http}`, operatorLink: link }, baseUrl)
  await owner.signIn(ownerAddress)
  const shown = await fetch(`http://${addresses.http}/`, { headers: { accept: 'text/html', cookie: owner.cookie } })
  const { answers = {} } = bootDataOf(await shown.text()).first ?? {}
  const [, findings] = Object.entries(answers).find(([address]) => address.startsWith('/v1/findings?')) ?? []
  return kindsOf(findings?.data, 'kind')
}

test('the same kinds for both audiences are open in every place', async (t) => {
  const here = await AlertedDaemon.start(t, { chats: ['slack'], env: { POSTERN_BASE_URL: baseUrl } })
  const { rest, addresses } = here.daemon
  await rest.must('POST', '/v1/domains', { domain: 'site.test' })
  here.setPassword('changed at the provider')
  await here.submit(20)
  await here.daemon.pass(20 * minute)
  using operator = new RestClient(addresses.http, operatorKey)
  await operator.must('POST', '/operator/v1/doctor') // completes look-ups of real name servers

  const byRest = kindsOf((await rest.must('GET', '/v1/findings?limit=100'))['data'], 'kind')
  t.true(byRest.length >= 4, byRest.join())
  for (const kind of ['destination.login_refused', 'destination.resting', 'mail.all_failing'] as const) t.true(byRest.includes(kind), kind)

  const query = '{ findings(first: 100) { nodes { kind } } }'
  const { data } = (await rest.must('POST', '/v1/graphql', { query })) as { data: { findings: { nodes: unknown } } }
  t.deepEqual(kindsOf(data.findings.nodes, 'kind'), byRest, 'GraphQL')

  t.deepEqual(await byOverview(here.daemon), byRest, 'overview')

  const byAgent = await callTool(here.daemon, await agentToken(here.daemon, baseUrl), 'findings_list', {})
  t.deepEqual(kindsOf(byAgent['data'], 'kind'), byRest, 'findings_list')

  const { findings: report } = (await operator.must('GET', '/operator/v1/doctor')) as { readonly findings: readonly Reported[] }
  t.deepEqual(kindsOf(report, 'id'), byRest, 'doctor')

  const printed = await byCommand(here.daemon)
  t.deepEqual(kindsOf(printed, 'id'), byRest, 'postern doctor')
  t.false(printed.some(({ id }) => id === 'daemon.not_running'))

  const metrics = (await rest.call('GET', '/metrics')).bytes.toString('utf8')
  for (const one of severities) {
    const [, counted] = new RegExp(`^postern_doctor_findings\\{severity="${one}"\\} (\\d+)$`, 'm').exec(metrics) ?? []
    t.is(Number(counted), report.filter(({ severity }) => severity === one).length, one)
  }
})
