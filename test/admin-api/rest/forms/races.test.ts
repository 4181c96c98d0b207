/** Concurrent writes of forms: simultaneous senders, and forms that change before the write. */
import test from '#test'
import { formVersions } from '#core/forms/form.ts'
import { formReplies } from '#core/forms/replies/reply.ts'
import { formSubmissions } from '#core/forms/submissions/submission.ts'
import { unpack, within } from '#store/tuple.ts'
import { assertSound } from '../../../support/problems.ts'
import { codeOf } from '../fixture/publishable-page.ts'
import { definition, formFixture, type FormFixture } from './visitor.ts'

type Row = Readonly<Record<string, unknown>>

const good = { email: 'ada@example.ch', message: 'Hello.' }

interface HeldWrites {
  /** Resolves when all writes are delayed. */
  readonly held: Promise<void>
  release(): void
}

/** Delays this number of writes with a row of the kind. */
function hold({ kv }: FormFixture, { name }: { readonly name: string }, count = 1): HeldWrites {
  const [held, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let seen = 0
  kv.beforeWrite = ({ sets }) => {
    if (!sets.some(({ key }) => unpack(key)[1] === name)) return undefined
    if (++seen === count) held.resolve()
    return opened.promise
  }
  return {
    held: held.promise,
    release() {
      kv.beforeWrite = undefined
      opened.resolve()
    },
  }
}

const rowsOf = async ({ database, organizationId }: FormFixture, { name }: { readonly name: string }): Promise<number> =>
  (await Array.fromAsync(database.kv.range(within([organizationId, name])))).length

async function remove({ rest, path, removals }: FormFixture): Promise<void> {
  await rest.must('DELETE', `${path}?confirm=Contact`)
  await removals.idle()
}

/** `max_submissions` of the version that the senders began with; the latest version allows 5. */
const began: Readonly<Record<string, number | null>> = { 'the same limit': 5, 'no limit': null, 'a lower limit': 1 }

for (const [version, max_submissions] of Object.entries(began))
  test(`max_submissions: 20 senders who began with ${version} fill 5 places`, async (t) => {
    const fixture = await formFixture(t, { settings: { max_submissions } })
    const { get, clock, publish, send, submissions } = fixture
    const tokens = await Promise.all(Array.from({ length: 20 }, async () => String(((await get()).body as Row)['fill_time_token'])))
    clock.advance(5000)
    await publish({ settings: { max_submissions: 5, closed_message: 'All seats are taken.' } })
    const { held, release } = hold(fixture, formSubmissions, tokens.length)
    const sent = tokens.map((_mnx_ft, at) => send(good, { _mnx_ft }, { 'x-forwarded-for': `192.0.2.${at}` }))
    await held
    release()
    const answers = await Promise.all(sent)
    const expected = [...Array<string>(5).fill('201'), ...Array<string>(15).fill('404 form_not_found')]
    t.deepEqual(answers.map((answer) => String(codeOf(answer))).toSorted(), expected)
    t.true(answers.filter(({ status }) => status === 404).every(({ bytes }) => bytes.includes('All seats are taken.')))
    t.is((await submissions()).length, 5)
    t.like((await get()).body, { closed: true })
    await assertSound(t, fixture)
  })

interface Change {
  act(fixture: FormFixture): Promise<unknown>
  readonly answer: number | string
  /** Number of stored submissions afterwards; one is stored before. */
  readonly left: number
}

const changes: Readonly<Record<string, Change>> = {
  paused: { act: ({ rest, path }) => rest.must('POST', `${path}/pause`), answer: '404 form_not_found', left: 1 },
  archived: { act: ({ rest, path }) => rest.must('POST', `${path}/archive`), answer: '404 form_not_found', left: 1 },
  deleted: { act: remove, answer: '404 form_not_found', left: 0 },
  'full by its new version': { act: ({ publish }) => publish({ settings: { max_submissions: 1 } }), answer: '404 form_not_found', left: 1 },
  'published again': { act: ({ publish }) => publish({ name: 'Next' }), answer: 201, left: 2 },
}

for (const [how, { act, answer, left }] of Object.entries(changes))
  test(`submission: the form is ${how} before the write`, async (t) => {
    const fixture = await formFixture(t)
    t.is((await fixture.send(good)).status, 201)
    const { held, release } = hold(fixture, formSubmissions)
    const sent = fixture.send(good)
    await held
    await act(fixture)
    release()
    t.is(codeOf(await sent), answer)
    t.is(await rowsOf(fixture, formSubmissions), left)
    await assertSound(t, fixture)
  })

test('publishing: publishes the draft that was saved before the write', async (t) => {
  const fixture = await formFixture(t)
  const { rest, path, get } = fixture
  const save = (name: string) => rest.must('PUT', `${path}/draft`, { ...definition, name })
  await save('Second')
  const { held, release } = hold(fixture, formVersions)
  const published = rest.must('POST', `${path}/publish`)
  await held
  await save('Third')
  release()
  t.like(await published, { version: 2 })
  t.like((await get()).body, { version: 2, name: 'Third' })
})

test('replies: no draft is stored after its form is deleted', async (t) => {
  const fixture = await formFixture(t)
  const { rest, path, send } = fixture
  const { id } = (await send(good)).body as Row
  const { held, release } = hold(fixture, formReplies)
  const draft = { from: 'shop@example.ch', subject: 'Re', text: 'Thank you.' }
  const written = rest.call('POST', `${path}/submissions/${String(id)}/reply-drafts`, draft)
  await held
  await remove(fixture)
  release()
  t.is(codeOf(await written), '404 not_found')
  t.is(await rowsOf(fixture, formReplies), 0)
  await assertSound(t, fixture)
})
