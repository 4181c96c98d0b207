/** Lists that do not page over stored rows behave like all other lists: each entry once, with opaque cursors. */
import test from '#test'
import { addDestination, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { column } from '../../../support/column.ts'

interface Listed {
  readonly path: string
  /** Makes at least three entries. */
  readonly fill: (fixture: Fixture) => Promise<unknown>
  /** The field that was the cursor before cursors became opaque. */
  readonly formerCursor: string
  /** Returns the path that deletes an entry. */
  readonly remove?: (entry: Readonly<Record<string, unknown>>) => string
}

const each = async (make: (i: number) => Promise<unknown>): Promise<void> => {
  for (const i of [1, 2, 3]) await make(i)
}
const addTeams = ({ rest }: Fixture) => each((i) => rest.must('POST', '/v1/organizations', { name: `Team ${i}` }))

const lists: Readonly<Record<string, Listed>> = {
  rules: {
    path: '/v1/routing/rules',
    formerCursor: 'id',
    async fill({ rest }) {
      const destination_id = await addDestination(rest)
      await each((i) => rest.must('POST', '/v1/routing/rules', { match: `s${i}.example.ch`, destination_id, priority: 4 - i }))
    },
    remove: ({ id }) => `/v1/routing/rules/${String(id)}`,
  },
  'failover policies': {
    path: '/v1/failover/policy',
    formerCursor: 'id',
    async fill({ rest }) {
      const fallback_ids = [await addDestination(rest)]
      await each(async () => {
        const primary_id = await addDestination(rest)
        await rest.must('POST', '/v1/failover/policy', { primary_id, fallback_ids, conditions: { on: ['transient'] } })
      })
    },
    remove: ({ primary_id }) => `/v1/failover/policy/${String(primary_id)}`,
  },
  projects: {
    path: '/v1/projects',
    formerCursor: 'id',
    fill: ({ rest }) => each((i) => rest.must('POST', '/v1/projects', { name: `Project ${i}` })),
    remove: ({ id }) => `/v1/projects/${String(id)}`,
  },
  'versions of a template': {
    path: '/v1/templates/TEMPLATE/versions',
    formerCursor: 'version',
    async fill({ rest }) {
      const { id } = await rest.must('POST', '/v1/templates', { slug: 'hello', name: 'Hello', subject_tmpl: 'Hello', text_tmpl: 'Hello' })
      await each((i) => rest.must('PUT', `/v1/templates/${String(id)}`, { subject_tmpl: `Hello ${i}`, text_tmpl: 'Hello' }))
    },
  },
  organizations: { path: '/v1/organizations', formerCursor: 'id', fill: addTeams },
  'organizations of the operator': { path: '/operator/v1/organizations', formerCursor: 'id', fill: addTeams },
}

for (const [what, { path: pattern, fill, formerCursor, remove }] of Object.entries(lists))
  test(`the list of ${what} shows every entry once and refuses foreign cursors`, async (t) => {
    const fixture = await startFixture(t)
    await fill(fixture)
    const client = pattern.startsWith('/operator') ? fixture.operator : fixture.rest
    const templates = (await fixture.rest.must('GET', '/v1/templates'))['data'] as { readonly id: string }[]
    const path = pattern.replace('TEMPLATE', templates[0]?.id ?? '')
    const page = (query: string) => client.must('GET', `${path}?${query}`)
    const { data, next_cursor } = await page('limit=200')
    const whole = data as Readonly<Record<string, unknown>>[]
    t.true(whole.length >= 3)
    t.is(next_cursor, null)
    t.deepEqual(await Array.fromAsync(client.rows(path, 1)), whole)
    t.deepEqual(await Array.fromAsync(client.rows(path, 2)), whole)
    t.is((await page(`limit=${whole.length}`))['next_cursor'], null)
    t.is(typeof (await page(`limit=${whole.length - 1}`))['next_cursor'], 'string')

    const none = [400, 'validation_failed', 'cursor: is not a cursor of this list; start again without a cursor']
    const others = String((await fixture.rest.must('GET', '/v1/audit?limit=1'))['next_cursor'])
    for (const cursor of [String(whole[0]?.[formerCursor]), others, 'zzz', '-', '0'])
      t.deepEqual(refusal(await client.call('GET', `${path}?cursor=${cursor}`)), none, cursor)
    if (!remove) return
    const { data: two, next_cursor: cursor } = await page('limit=2')
    for (const entry of two as typeof whole) t.is((await client.call('DELETE', remove(entry))).status, 204)
    const rest = await page(`limit=200&cursor=${String(cursor)}`)
    t.deepEqual(rest, { data: whole.slice(2), next_cursor: null }, 'a cursor remains valid after the earlier entries were deleted')
  })

test('pages of a filtered list are full, regardless of the entries filtered out', async (t) => {
  const { rest, addProject } = await startFixture(t)
  const other = await addProject()
  const replay = async (project_id: unknown) => (await rest.must('POST', '/v1/replays', { filter: { project_id } }))['id']
  const { project_id: own } = await rest.must('GET', '/v1/projects/me')
  const ofOther = [await replay(other), await replay(own), await replay(own), await replay(other), await replay(own)].filter(
    (_, i) => i % 3 === 0,
  )
  const page = await rest.must('GET', `/v1/replays?project=${other}&limit=2`)
  t.deepEqual(column(page['data'] as { id: string }[], 'id'), ofOther.toReversed())
})
