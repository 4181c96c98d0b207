/** One state of a service: REST, GraphQL, the doctor and metrics show the same open findings of organizations. */
import test from '#test'
import { factsOf, severities, type FindingKind, type Severity } from '#core/findings/kinds.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { AlertedDaemon, minute, operatorKey } from './alerted-daemon.ts'

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

test('the same kinds for both audiences are open in every place', async (t) => {
  const here = await AlertedDaemon.start(t, { chats: ['slack'] })
  const { rest, addresses } = here.daemon
  await rest.must('POST', '/v1/domains', { domain: 'site.test' })
  here.setPassword('changed at the provider')
  await here.submit(20)
  await here.daemon.pass(20 * minute)
  using operator = new RestClient(addresses.http, operatorKey)

  const byRest = kindsOf((await rest.must('GET', '/v1/findings?limit=100'))['data'], 'kind')
  t.true(byRest.length >= 4, byRest.join())
  for (const kind of ['destination.login_refused', 'destination.resting', 'mail.all_failing'] as const) t.true(byRest.includes(kind), kind)

  const query = '{ findings(first: 100) { nodes { kind } } }'
  const { data } = (await rest.must('POST', '/v1/graphql', { query })) as { data: { findings: { nodes: unknown } } }
  t.deepEqual(kindsOf(data.findings.nodes, 'kind'), byRest, 'GraphQL')

  const { findings: report } = (await operator.must('GET', '/operator/v1/doctor')) as { readonly findings: readonly Reported[] }
  t.deepEqual(kindsOf(report, 'id'), byRest, 'doctor')

  const metrics = (await rest.call('GET', '/metrics')).bytes.toString('utf8')
  for (const one of severities) {
    const [, counted] = new RegExp(`^postern_doctor_findings\\{severity="${one}"\\} (\\d+)$`, 'm').exec(metrics) ?? []
    t.is(Number(counted), report.filter(({ severity }) => severity === one).length, one)
  }
})
