/** Every flag of the registry against every operation of the table. */
import test from '#test'
import { featureFlag, featureNames } from '#config/plans/features.ts'
import { errorOf, startFixture } from '../fixture/rest-fixture.ts'
import { column } from '../../../support/column.ts'

interface Described {
  readonly operationId: string
  readonly security: readonly object[]
}
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const isUnder = (path: string, routes: readonly string[]): boolean => routes.some((route) => path === route || path.startsWith(`${route}/`))

test('each route of a flag that is off refuses before reading the request', async (t) => {
  const { rest, operator, organizationId } = await startFixture(t)
  const { paths } = (await rest.must('GET', '/openapi.json')) as unknown as { readonly paths: Record<string, Record<string, Described>> }
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { security }]) => security.length > 0)
      .map(([method, { operationId }]) => ({ path, method: method.toUpperCase() as Method, operationId })),
  )
  const gated = new Set<string>()
  for (const flag of featureNames) {
    const { routes, always } = featureFlag(flag)
    const mine = operations.filter(({ path, operationId }) => isUnder(path, routes) && !always.includes(operationId))
    await operator.must('PUT', `/operator/v1/organizations/${organizationId}/flags`, { [flag]: false })
    for (const { method, path, operationId } of mine) {
      const answer = await rest.call(method, path.replaceAll(/\{\w+\}/g, 'none'), method === 'GET' ? undefined : { unknown: true })
      t.is(answer.status, 403, `${flag}: ${operationId}`)
      t.like(errorOf(answer), { code: 'feature_disabled', next_action: 'ask_operator', details: { flag } })
      gated.add(operationId)
    }
    for (const { method, path, operationId } of operations.filter((one) => isUnder(one.path, routes) && always.includes(one.operationId))) {
      const { status } = await rest.call(method, path.replaceAll(/\{\w+\}/g, 'none'))
      t.not(status, 403, `${flag}: ${operationId} stays`)
    }
    await operator.must('PUT', `/operator/v1/organizations/${organizationId}/flags`, { [flag]: true })
    for (const { method, path, operationId } of mine) {
      const { status } = await rest.call(method, path.replaceAll(/\{\w+\}/g, 'none'), method === 'GET' ? undefined : { unknown: true })
      t.not(status, 403, `${flag} is on again: ${operationId}`)
    }
  }
  for (const operationId of ['listTemplates', 'createReplay', 'createSmtpCredential']) t.true(gated.has(operationId), operationId)
  t.false(gated.has('revokeSmtpCredential'), 'a safety operation')
})

test('operations that a flag lists as always available exist', async (t) => {
  const { rest } = await startFixture(t)
  const { paths } = (await rest.must('GET', '/openapi.json')) as unknown as { readonly paths: Record<string, Record<string, Described>> }
  const ids = new Set(Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId)))
  for (const flag of featureNames) {
    const { always, tools } = featureFlag(flag)
    for (const name of always) t.true(ids.has(name) || name.includes('_'), `${flag}: ${name}`)
    t.is(new Set(tools).size, tools.length)
  }
})

test('with templates off, sends from templates are refused too', async (t) => {
  const { rest, operator, organizationId } = await startFixture(t)
  const template = { slug: 'order', name: 'Order', subject_tmpl: 'Order', text_tmpl: 'Thank you.' }
  await rest.must('POST', '/v1/templates', template)
  const send = { from: 'shop@example.ch', to: 'ada@example.ch', template_slug: 'order' }
  t.is((await rest.call('POST', '/v1/messages', send)).status, 200)
  await operator.must('PUT', `/operator/v1/organizations/${organizationId}/flags`, { templates: false })
  t.is(errorOf(await rest.call('POST', '/v1/messages', send)).code, 'feature_disabled')
})

test('GET /v1/flags lists every flag with its state and reason', async (t) => {
  const { rest, operator, organizationId } = await startFixture(t, { plan: 'free' })
  await operator.must('PUT', `/operator/v1/organizations/${organizationId}/flags`, { forms: false, bounce_auto_suppress: true })
  const { data } = (await rest.must('GET', '/v1/flags')) as unknown as { readonly data: readonly { readonly flag: string }[] }
  t.deepEqual(column(data, 'flag'), [...featureNames])
  const of = (flag: string): unknown => data.find((one) => one.flag === flag)
  t.like(of('forms'), {
    ...{ enabled: false, on: false, default: true, set_by: 'operator' },
    reason: 'Forms was turned off for this organization by the operator of the service.',
  })
  t.like(of('bounce_auto_suppress'), { enabled: true, default: false, set_by: 'operator' })
  t.like(of('verp'), { enabled: false, on: true, set_by: 'default', reason: 'VERP is not part of the plan free; raise the plan.' })
  t.like(of('webhooks'), {
    enabled: true,
    set_by: 'default',
    reason: 'Event webhooks is on by default.',
  })
})

test('flags of one organization are not visible to another', async (t) => {
  const { operator, organizationId, addOrganization } = await startFixture(t)
  const other = await addOrganization()
  await operator.must('PUT', `/operator/v1/organizations/${organizationId}/flags`, { templates: false })
  t.is((await other.rest.call('GET', '/v1/templates')).status, 200)
})
