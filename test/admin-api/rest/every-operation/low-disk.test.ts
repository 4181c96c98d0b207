/** Every operation while disk space is low: operations that store new mail or files are refused, and all others work. */
import test from '#test'
import { workOf, type Operation } from '../../../../admin-api/operation/operation.ts'
import type { RestAnswer } from '../../../support/daemon/rest.ts'
import { walkOf } from '../../graphql/every-field.ts'
import { post } from '../../graphql/graphql-fixture.ts'
import { startMcp } from '../../mcp/mcp-fixture.ts'
import { makeForTools, toolRequestsOf } from '../../mcp/walks/tool-requests.ts'
import { FakeClock, startOfTime } from '../../../support/fake-clock.ts'
import { ask, installationOf, requestOf } from '../fixture/one-of-everything.ts'
import { adminKey, startFixture, type Fixture } from '../fixture/rest-fixture.ts'

/** Every operation that stores new mail or files, except the send endpoints of other services. */
const storing = [
  'collectDestinationEvidence',
  'createSiteDeploy',
  'importServiceSuppressions',
  'importServiceTemplates',
  'importSuppressions',
  'ingestActivityLog',
  'ingestLogs',
  'ingestMailEnable',
  'ingestReportMail',
  'ingestStalwart',
  'putSiteFile',
  'releaseInboxMessage',
  'sendFormPage',
  'sendFormReply',
  'sendMessage',
  'sendMessageBatch',
  'submitForm',
  'submitSendmail',
  'testTemplate',
]

function fillDisk({ daemon }: Pick<Fixture, 'daemon'>): void {
  daemon.part('admission').isDiskLow = () => true
}

const codeOf = ({ body }: RestAnswer): string | undefined => (body as { error?: { code: string } } | undefined)?.error?.code
const isFull = ({ status, body, bytes }: RestAnswer): boolean =>
  status === 503 && (codeOf({ status, body, bytes } as RestAnswer) === 'storage_full' || /no room/.test(bytes.toString('utf8')))

test('low disk: refuses only operations that store mail or files, before other checks', async (t) => {
  const fixture = await startFixture(t)
  fillDisk(fixture)
  const isVendors = ({ tags }: Operation<never>): boolean => tags.includes('vendors')
  const refused: string[] = []
  for (const operation of fixture.operations) {
    if (operation.waits || operation.operationId === 'streamEvents') continue
    const { operationId, method } = operation
    const answer = await ask(fixture.rest, operation, { outsider: 'own', ...(method !== 'GET' && { body: {} }) })
    t.is(isFull(answer), workOf(operation) === 'storing', `${operationId}: ${answer.status} ${answer.bytes.toString('utf8').slice(0, 200)}`)
    if (isFull(answer) && !isVendors(operation)) refused.push(operationId)
  }
  t.deepEqual(refused.toSorted(), storing)
})

test('low disk: all other requests of administrators and operators are answered', async (t) => {
  const installation = await installationOf(t)
  fillDisk(installation)
  for (const operation of installation.walk) {
    if (workOf(operation) === 'storing' || operation.operationId === 'unsubscribe') continue
    const client = operation.scope === 'operator' ? installation.operator : installation.rest
    const answer = await ask(client, operation, requestOf(installation, operation))
    t.true(answer.status < 400, `${operation.operationId}: ${answer.status} ${codeOf(answer)}`)
  }
})

test('low disk: GraphQL refuses only the fields that store new mail or files', async (t) => {
  const installation = await installationOf(t)
  fillDisk(installation)
  for (const { name, action, document, variables, request } of walkOf(installation)) {
    const { body } = await post(installation, { query: document, variables: variables(request) }, {}, adminKey)
    const code = body.errors?.[0]?.extensions.code ?? 'done'
    t.is(code, workOf(action) === 'storing' ? 'storage_full' : 'done', name)
  }
})

test('low disk: MCP refuses only the tools that store new mail or files', async (t) => {
  const fixture = await startMcp(t, { clock: new FakeClock(startOfTime, 1000) })
  const requests = toolRequestsOf(await makeForTools(fixture))
  const agent = await fixture.agent({ reachesOrganization: true })
  fillDisk(fixture)
  const refused: string[] = []
  for (const [name, { given }] of Object.entries(requests)) {
    const { isError, value } = await agent.call(name, given)
    if (isError) refused.push(`${name} ${(value['error'] as { code: string }).code}`)
  }
  t.deepEqual(refused.toSorted(), ['email_send_test storage_full', 'form_reply_send storage_full'])
})

test('low disk: /readyz stays ready and warns', async (t) => {
  const fixture = await startFixture(t)
  t.deepEqual(((await fixture.rest.must('GET', '/readyz')) as { warnings: unknown }).warnings, [])
  fillDisk(fixture)
  t.deepEqual(await fixture.rest.must('GET', '/readyz'), {
    status: 'ready',
    reasons: [],
    warnings: ['disk.low: New mail and files are refused until there is more space on the file system of the data folder.'],
  })
})
