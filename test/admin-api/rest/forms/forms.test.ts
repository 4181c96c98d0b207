/** Forms by REST: drafts, versions, and the transitions from draft to archive. Spec "Form", "Versioning" 3. */
import test from '#test'
import { formDrafts, forms, formVersions } from '#core/forms/form.ts'
import type { RestClient } from '../../../support/daemon/rest.ts'
import { errorOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { assertSound } from '../../../support/problems.ts'

type Row = Readonly<Record<string, unknown>>

const field = (key: string, more: Row = {}): Row => ({ key, type: 'text', label: key, ...more })
const definition = (name: string, ...fields: readonly Row[]): Row => ({ name, schema: { version: 1, fields } })

async function make(
  rest: RestClient,
  body: object = { name: 'Contact', template: 'contact' },
): Promise<{ readonly id: string; readonly path: string }> {
  const { id } = await rest.must('POST', '/v1/forms', body)
  return { id: String(id), path: `/v1/forms/${String(id)}` }
}

const codes = (checked: Row): unknown => (checked['errors'] as { path: string; code: string }[]).map(({ path, code }) => `${path} ${code}`)

test('a form is created as a draft, from a starter, a definition or nothing', async (t) => {
  const { rest } = await startFixture(t)
  const answer = await rest.call('POST', '/v1/forms', { name: 'Contact', template: 'contact' })
  t.is(answer.status, 201)
  t.like(answer.body, { name: 'Contact', status: 'draft', version: 0, published_at: null, has_captcha_secret: false })
  const { id, public_id, project_id } = answer.body as Row
  t.regex(String(id), /^frm_[0-9a-f]{32}$/)
  t.regex(String(public_id), /^[A-Za-z0-9]{22}$/)
  t.is(project_id, (await rest.must('GET', '/v1/projects/me'))['project_id'])
  t.deepEqual(await rest.must('GET', `/v1/forms/${String(id)}`), {
    ...(answer.body as Row),
    submissions_new: 0,
    submissions_by_status: { new: 0, read: 0, replied: 0, archived: 0, spam: 0 },
  })
  const empty = await make(rest, { name: 'Empty' })
  t.like(await rest.must('GET', `${empty.path}/draft`), { valid: false, revision: 1, definition: definition('Empty') })
  const own = await make(rest, { name: 'Mine', definition: definition('Other', field('a')) })
  t.like(await rest.must('GET', `${own.path}/draft`), { valid: true, errors: [], definition: { name: 'Mine' } })
  const wrong = await rest.call('POST', '/v1/forms', { name: 'x', definition: definition('x', field('data'), field('b', { label: '' })) })
  t.is(wrong.status, 400)
  t.like(errorOf(wrong), { code: 'definition_invalid', next_action: 'fix_definition' })
  t.deepEqual(codes(errorOf(wrong).details ?? {}), ['schema.fields[0].key reserved_key', 'schema.fields[1].label required'])
  t.regex(errorOf(wrong).message, /schema\.fields\[0\]\.key is reserved for submissions; choose another key\. There are 1 more errors\.$/)
  const both = await rest.call('POST', '/v1/forms', { name: 'x', template: 'rsvp', definition: definition('x', field('a')) })
  t.deepEqual(refusal(both), [400, 'validation_failed', 'template: cannot be combined with definition; remove template or definition'])
})

test('lists are filtered by project, status and part of the name', async (t) => {
  const { rest, addProject } = await startFixture(t)
  const other = await addProject()
  const [first, second] = [await make(rest), await make(rest, { name: 'Support desk', template: 'support', project_id: other })]
  await rest.must('POST', `${first.path}/publish`)
  const ids = async (query: string) => ((await rest.must('GET', `/v1/forms?${query}`))['data'] as Row[]).map(({ id }) => id)
  t.deepEqual(await ids(''), [second.id, first.id])
  t.deepEqual(await ids(`project=${other}`), [second.id])
  t.deepEqual(await ids('status=published'), [first.id])
  t.deepEqual(await ids('q=DESK'), [second.id])
})

test('a draft is saved completely or not at all, and overwrites no newer draft', async (t) => {
  const { rest } = await startFixture(t)
  const { path } = await make(rest)
  const { headers } = await rest.call('GET', `${path}/draft`)
  t.is(headers['etag'], '"1"')
  const saved = await rest.call('PUT', `${path}/draft`, definition('Ours', field('a', { label: '' })), { 'if-match': '"1"' })
  t.deepEqual([saved.status, saved.headers['etag']], [200, '"2"'])
  t.deepEqual(codes(saved.body as Row), ['schema.fields[0].label required'])
  t.like(await rest.must('GET', path), { name: 'Ours' }, 'the form has the name of its draft')
  const stale = await rest.call('PUT', `${path}/draft`, definition('Theirs', field('b')), { 'if-match': '"1"' })
  t.is(stale.status, 409)
  t.like(errorOf(stale), { code: 'draft_conflict', next_action: 'read_and_retry', details: { edited_by: 'key_environment', revision: 2 } })
  t.regex(errorOf(stale).message, /^The draft was saved by key_environment at 2030-/)
  t.is(
    (await rest.call('PUT', `${path}/draft`, definition('Ours', field('a', { label: '' })), { 'if-match': '"2"' })).headers['etag'],
    '"2"',
  )
  t.like(await rest.must('PUT', `${path}/draft`, definition('Theirs', field('b'))), { revision: 3, valid: true })
  t.like(await rest.must('PATCH', path, { name: 'Renamed' }), { name: 'Renamed' })
  t.like(await rest.must('GET', `${path}/draft`), { revision: 4, definition: { name: 'Renamed' } })
  const large = await rest.call('PUT', `${path}/draft`, definition('Large', field('b', { help: 'x'.repeat(300_000) })))
  t.regex(errorOf(large).message, /^body: must have at most 262144 bytes; this one has 300\d{3}$/)
  t.is((await rest.call('PUT', `${path}/draft`, { ...definition('x'), css: '' })).status, 400)
  t.like(await rest.must('POST', `${path}/validate`), { valid: true })
  const found = await rest.must('POST', `${path}/validate`, { definition: definition('x') })
  t.deepEqual([found['valid'], codes(found)], [false, ['schema.fields too_few']])
})

test('publishing makes immutable versions; a rollback makes a new version', async (t) => {
  const { rest } = await startFixture(t)
  const { id, path } = await make(rest, { name: 'Form', definition: definition('Form', field('a')) })
  t.like(await rest.must('POST', `${path}/publish`, { note: 'First' }), { status: 'published', version: 1 })
  t.like(await rest.must('POST', `${path}/publish`), { version: 1 }, 'an unchanged draft makes no version')
  await rest.must('PUT', `${path}/draft`, definition('Form', field('a', { required: true }), field('b')))
  t.like(await rest.must('GET', `${path}/versions/1`), { definition: { schema: { fields: [field('a')] } } })
  t.like(await rest.must('POST', `${path}/publish`), { version: 2 })
  t.like(await rest.must('POST', `${path}/versions/1/rollback`, { note: 'Back' }), { status: 'published', version: 3 })
  const versions = (await rest.must('GET', `${path}/versions`))['data'] as Row[]
  t.deepEqual(
    versions.map(({ version, note, rolled_back_to }) => [version, note, rolled_back_to]),
    [
      [3, 'Back', 1],
      [2, '', null],
      [1, 'First', null],
    ],
  )
  t.like(versions[0], { form_id: id, published_by: 'key_environment' })
  const changes = async (query: string): Promise<unknown> =>
    ((await rest.must('GET', `${path}/versions/${query}`))['data'] as Row[]).map(({ kind, path: at }) => `${String(kind)} ${String(at)}`)
  t.deepEqual(await changes('2/diff'), ['added fields.a.required', 'added fields.b'])
  t.deepEqual(await changes('3/diff?against=1'), [])
  t.deepEqual(refusal(await rest.call('GET', `${path}/versions/4`)), [
    404,
    'not_found',
    'The form has no version 4; its versions are 1 to 3.',
  ])
  t.is((await rest.call('GET', `${path}/versions/1/diff`)).status, 404)
  t.like(
    await rest.must('GET', `${path}/draft`),
    { definition: { schema: { fields: [{ required: true }, field('b')] } } },
    'the draft is unchanged',
  )
  await rest.must('PUT', `${path}/draft`, definition('Form'))
  t.is(refusal(await rest.call('POST', `${path}/publish`))[1], 'definition_invalid')
  t.like(await rest.must('GET', path), { version: 3, status: 'published' })
})

test('draft, published, paused, archived, and back; each transition is idempotent', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const { path } = await make(rest)
  const act = async (what: string): Promise<unknown> => (await rest.must('POST', `${path}/${what}`))['status']
  t.deepEqual(refusal(await rest.call('POST', `${path}/pause`)), [409, 'conflict', 'The form is draft; publish it first.'])
  t.is(await act('archive'), 'archived')
  t.is(await act('unarchive'), 'draft')
  t.is(await act('publish'), 'published')
  t.deepEqual([await act('pause'), await act('pause')], ['paused', 'paused'])
  t.deepEqual([await act('resume'), await act('resume')], ['published', 'published'])
  t.deepEqual([await act('archive'), await act('archive')], ['archived', 'archived'])
  t.deepEqual(refusal(await rest.call('POST', `${path}/publish`)), [409, 'conflict', 'The form is archived; unarchive it first.'])
  t.deepEqual([await act('unarchive'), await act('unarchive')], ['paused', 'paused'])
  t.is(await act('publish'), 'published')
  t.like(await rest.must('GET', path), { version: 1 })
  await rest.must('PUT', `${path}/draft`, { ...(await draftOf(rest, path)), locale: 'fr' })
  await rest.must('PUT', `${path}/draft`, { ...(await draftOf(rest, path)), locale: 'de' })
  const acts = ((await rest.must('GET', '/v1/audit?limit=200'))['data'] as Row[])
    .map(({ act: name }) => name)
    .filter((name) => String(name).startsWith('form.'))
  t.deepEqual(acts.toReversed(), [
    ...[
      'form.created',
      'form.archived',
      'form.unarchived',
      'form.published',
      'form.paused',
      'form.resumed',
      'form.archived',
      'form.unarchived',
    ],
    ...['form.published', 'form.draft_saved'],
  ])
})

const draftOf = async (rest: Fixture['rest'], path: string): Promise<object> =>
  (await rest.must('GET', `${path}/draft`))['definition'] as object

test('a form is copied, exported and imported elsewhere, and moves to another project', async (t) => {
  const { rest, addOrganization, addProject } = await startFixture(t)
  const { id, path } = await make(rest)
  await rest.must('POST', `${path}/publish`)
  const copy = await rest.call('POST', `${path}/duplicate`)
  t.is(copy.status, 201)
  const { public_id } = await rest.must('GET', path)
  t.like(copy.body, { name: 'Contact (copy)', status: 'draft', version: 0 })
  t.not((copy.body as Row)['public_id'], public_id)
  const exported = await rest.must('GET', `${path}/export-definition`)
  const other = await addOrganization()
  const imported = await other.rest.call('POST', '/v1/forms/import', exported)
  t.is(imported.status, 201)
  t.like(imported.body, { name: 'Contact', status: 'draft', project_id: other.projectId })
  const [own, theirs] = [
    await rest.must('GET', `${path}/draft`),
    await other.rest.must('GET', `/v1/forms/${String((imported.body as Row)['id'])}/draft`),
  ]
  t.deepEqual(theirs['definition'], own['definition'])
  t.is((await other.rest.call('GET', path)).status, 404)
  const away = await addProject()
  t.like(await rest.must('PATCH', path, { project_id: away, name: 'Moved' }), { project_id: away, name: 'Moved', public_id, version: 1 })
  t.like(await rest.must('GET', `/v1/forms?project=${away}`), { data: [{ id }] })
  t.is((await rest.call('PATCH', path, { project_id: other.projectId })).status, 404)
})

async function rowsLeft({ database, organizationId }: Fixture): Promise<number> {
  const kinds = await Promise.all([
    database.all(forms, { organizationId }),
    database.all(formDrafts, { organizationId }),
    database.all(formVersions, { organizationId }),
  ])
  return kinds.flat().length
}

test("deleteForm: requires the form's name and deletes all rows, also with its project", async (t) => {
  const fixture = await startFixture(t)
  const { rest, database, removals } = fixture
  const { path } = await make(rest)
  await rest.must('POST', `${path}/publish`)
  await assertSound(t, { database })
  const refused = await rest.call('DELETE', `${path}?confirm=Other`)
  t.is(refusal(refused)[2], 'confirm: must be the name of the form, "Contact": the form and all its versions are deleted permanently')
  t.is((await rest.call('DELETE', `${path}?confirm=Contact`)).status, 204)
  t.is((await rest.call('GET', path)).status, 404)
  t.is(await rowsLeft(fixture), 0)
  const { id: project } = await rest.must('POST', '/v1/projects', { name: 'Short-lived' })
  const { path: inside } = await make(rest, { name: 'Contact', template: 'contact', project_id: project })
  await rest.must('POST', `${inside}/publish`)
  await rest.must('DELETE', `/v1/projects/${String(project)}`)
  t.is((await rest.call('GET', inside)).status, 404)
  await removals.idle()
  t.is(await rowsLeft(fixture), 0)
  await assertSound(t, { database })
})

test('a form is imported from the HTML of a page', async (t) => {
  const { rest } = await startFixture(t)
  const html = `<form action="/old" onsubmit="x()"><script>evil()</script>
    <p><label>Your <style>p{}</style> name<script>evil("</p>")</script> <input name="Your-Name[]" required placeholder="Ada"></label></p>
    <label for="m">Mail</label><input id="m" type="email" name="mail">
    <select name="topic" aria-label="Topic"><option value="">Choose</option><option value="bug">Problem</option><option>Other</option></select>
    <fieldset><legend>Size</legend><label><input type="radio" name="size" value="s"> Small</label>
      <input type="radio" name="size" value="l" id="large"><label for="large">Large</label></fieldset>
    <label><input type="checkbox" name="terms" required> I agree</label>
    <label>News <textarea name="news"></textarea></label><input type="hidden" name="page" value="home"><input type="password" name="secret">
    <button>Go <b>on</b></button></form><form><input name="other"></form>`
  const { path } = await make(rest, { name: 'Old form', html })
  const { definition: read, errors } = await rest.must('GET', `${path}/draft`)
  t.deepEqual(errors, [])
  const choices = (...labels: readonly (readonly [string, string])[]) => labels.map(([value, label]) => ({ value, label }))
  t.deepEqual(read, {
    name: 'Old form',
    schema: {
      version: 1,
      fields: [
        { key: 'your_name', type: 'text', label: 'Your name', required: true, placeholder: 'Ada' },
        { key: 'mail', type: 'email', label: 'Mail' },
        { key: 'topic', type: 'select', label: 'Topic', options: choices(['bug', 'Problem'], ['Other', 'Other']) },
        { key: 'size', type: 'radio', label: 'Size', options: choices(['s', 'Small'], ['l', 'Large']) },
        { key: 'terms', type: 'checkbox', label: 'I agree', required: true },
        { key: 'news', type: 'textarea', label: 'News' },
        { key: 'page', type: 'hidden', label: 'Page', source: 'static', default: 'home' },
      ],
    },
    settings: { submit_label: 'Go on' },
  })
  t.is(refusal(await rest.call('POST', '/v1/forms', { name: 'x', html: '<p>Nothing</p>' }))[2], 'html: contains no form controls')
  t.is(refusal(await rest.call('POST', '/v1/forms', { name: 'x', html, template: 'rsvp' }))[1], 'validation_failed')
})

test('a snippet embeds a form and names the required content security policy', async (t) => {
  const { rest } = await startFixture(t)
  const settings = { allowed_origins: ['https://www.example.ch'] }
  const { path } = await make(rest, { name: 'A & "B"', definition: { ...definition('A & "B"', field('a')), settings } })
  const snippet = (body: Row): Promise<Row> => rest.must('POST', `${path}/embed-snippet`, body)
  const link = await snippet({ mode: 'link' })
  t.regex(String(link['url']), /^https:\/\/post\.example\.ch\/f\/[A-Za-z0-9]{22}$/)
  t.deepEqual(link, {
    ...{ mode: 'link', url: link['url'], html: `<a href="${String(link['url'])}">A &amp; &quot;B&quot;</a>`, content_security_policy: [] },
    notes: ['The form is a draft: visitors cannot see it until it is published.'],
  })
  await rest.must('POST', `${path}/publish`)
  const script = '<script async src="https://post.example.ch/embed.js"></script>'
  const frame = await snippet({ mode: 'iframe', origin: 'https://www.example.ch' })
  t.deepEqual(
    [frame['notes'], frame['content_security_policy']],
    [[], ['script-src https://post.example.ch', 'frame-src https://post.example.ch']],
  )
  t.true(String(frame['html']).includes('?embed=1" title="A &amp; &quot;B&quot;"') && String(frame['html']).endsWith(script))
  const popup = await snippet({ mode: 'popup', origin: 'https://other.example' })
  t.regex(String(popup['html']), /^<div data-svc-form="\w+" data-mode="popup" data-label="A &amp; &quot;B&quot;"><a href=/)
  t.regex(String(popup['notes']), /^https:\/\/other\.example is not in settings\.allowed_origins/)
  t.is(refusal(await rest.call('POST', `${path}/embed-snippet`, { mode: 'script', origin: 'www.example.ch' }))[1], 'validation_failed')
})
