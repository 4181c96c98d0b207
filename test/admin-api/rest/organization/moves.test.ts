/** Moving resources to another project of the organization by REST. Spec "Project rules" 5. */
import test from '#test'
import { inboxes } from '#core/capture/capture.ts'
import { Change } from '#store/change.ts'
import { addDestination, errorOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'

type Row = Readonly<Record<string, unknown>>
const actsOf = async ({ rest }: Fixture, act: string): Promise<Row[]> => (await rest.must('GET', `/v1/audit?act=${act}`))['data'] as Row[]

async function setUp(t: Parameters<typeof startFixture>[0]) {
  const fixture = await startFixture(t)
  const home = String((await fixture.rest.must('GET', '/v1/projects/me'))['project_id'])
  const away = await fixture.addProject()
  const other = await fixture.addOrganization()
  return { ...fixture, home, away, other }
}

test('a template moves with its versions, unless the target project has its slug', async (t) => {
  const setup = await setUp(t)
  const { rest, home, away, other } = setup
  const body = { slug: 'hello', name: 'Hello', subject_tmpl: 'Hello', text_tmpl: 'x' }
  const { id } = await rest.must('POST', '/v1/templates', body)
  const path = `/v1/templates/${String(id)}`
  await rest.must('PUT', path, { subject_tmpl: 'Hello again' })
  t.like(await rest.must('PATCH', path, { project_id: home }), { project_id: home }, 'it is already there')
  t.is((await actsOf(setup, 'template.moved')).length, 0)
  t.like(await rest.must('PATCH', path, { project_id: away }), { project_id: away, current_version: 2 })
  t.like(await actsOf(setup, 'template.moved'), [{ target: id, project_id: away, details: { name: 'Hello', changed: ['project_id'] } }])
  t.like(await rest.must('GET', `${path}/versions/1`), { subject_tmpl: 'Hello' })
  t.like(await rest.must('GET', `/v1/templates?project=${away}`), { data: [{ id }] })
  const twin = await rest.must('POST', '/v1/templates', body)
  const taken = await rest.call('PATCH', path, { project_id: home })
  t.like(errorOf(taken), { code: 'conflict', details: { template_id: twin['id'] } })
  t.is((await rest.call('PATCH', path, { project_id: other.projectId })).status, 404)
  t.is((await rest.call('PATCH', path, {})).status, 400)
})

test('an SMTP credential moves, and a warning says that its destination stayed', async (t) => {
  const setup = await setUp(t)
  const { rest, away, home, other } = setup
  const destination = await addDestination(rest)
  const { id } = await rest.must('POST', '/v1/smtp-credentials', { default_destination_id: destination })
  const path = `/v1/smtp-credentials/${String(id)}`
  const moved = await rest.must('PATCH', path, { project_id: away })
  t.like(moved, { project_id: away, default_destination_id: destination })
  t.deepEqual(moved['warnings'], [
    {
      path: 'default_destination_id',
      message: 'belongs to another project, so this credential cannot use it; choose a value of this project',
    },
  ])
  t.false('warnings' in (await rest.must('PATCH', path, { project_id: home })))
  t.is((await rest.call('PATCH', path, { project_id: other.projectId })).status, 404)
  t.is((await actsOf(setup, 'smtp_credential')).length, 3)
  const both = await rest.must('PATCH', path, {
    project_id: away,
    default_destination_id: await addDestination(rest, { project_id: away }),
  })
  t.false('warnings' in both)
})

test('a destination moves only while unreferenced, and never if organization-wide', async (t) => {
  const { rest, away, home } = await setUp(t)
  const id = await addDestination(rest)
  const path = `/v1/destinations/${id}`
  const { id: rule } = await rest.must('POST', '/v1/routing/rules', { match: '*', destination_id: id })
  t.like(errorOf(await rest.call('PATCH', path, { project_id: away })), { code: 'conflict', details: { routing_rule_ids: [rule] } })
  await rest.must('DELETE', `/v1/routing/rules/${String(rule)}`)
  t.like(await rest.must('PATCH', path, { project_id: away }), { project_id: away })
  await rest.must('PATCH', path, { scope: 'org' })
  t.is(refusal(await rest.call('PATCH', path, { project_id: home }))[1], 'validation_failed')
})

test('an inbox moves unless the target has its pattern; a catch-all never moves', async (t) => {
  const setup = await setUp(t)
  const { rest, database, organizationId, home, away, withKey } = setup
  const record = { id: 'inb_seen', projectId: home, addressPattern: '@seen.ch', name: 'Seen', createdAt: 1 }
  await database.commit(new Change().insert(inboxes, organizationId, record))
  t.like(await rest.must('PATCH', '/v1/inboxes/inb_seen', { project_id: away }), { project_id: away })
  t.like(await actsOf(setup, 'inbox.moved'), [{ target: 'inb_seen', project_id: away }])
  const [catchAll] = ((await rest.must('GET', `/v1/inboxes?project=${home}`))['data'] as Row[]) ?? []
  const taken = await rest.call('PATCH', `/v1/inboxes/${String(catchAll?.['id'])}`, { project_id: away })
  t.is(refusal(taken)[2], 'Another inbox of that project has the pattern *; change its pattern or delete it first.')
  const bound = await withKey(['api:admin'], away)
  t.is((await bound.call('PATCH', '/v1/inboxes/inb_seen', { project_id: home })).status, 404)
})
