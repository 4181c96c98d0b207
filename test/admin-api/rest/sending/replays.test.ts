/** Bulk replays over REST: preview, start, progress, stop, and refusals. */
import test from '#test'
import { startFixture } from '../fixture/rest-fixture.ts'

test('a dry run counts and stores nothing; a replay is created, read, listed and stopped', async (t) => {
  const { rest, daemon } = await startFixture(t)
  await daemon.replayRunner.stop() // Keeps the job from finishing before it is read.
  const preview = await rest.call('POST', '/v1/replays', { filter: { to: 'ada@example.ch' }, dry_run: true })
  t.is(preview.status, 200)
  t.like(preview.body, { job_id: null, status: 'preview', matched: 0, complete: true, created_at: null })
  t.deepEqual((await rest.must('GET', '/v1/replays'))['data'], [])
  const { status, body } = await rest.call('POST', '/v1/replays', { filter: { since: '2026-01-01T00:00:00+01:00' } })
  t.is(status, 201)
  t.like(body, { status: 'running', matched: null, counters: { examined: 0, replayed: 0, skipped: 0, refused: 0 } })
  t.like(body, { filter: { since: '2025-12-31T23:00:00.000Z', to: null }, include_unknown: false })
  const id = String((body as Record<string, unknown>)['job_id'])
  t.deepEqual(await rest.must('GET', `/v1/replays/${id}`), body)
  t.deepEqual((await rest.must('GET', '/v1/replays'))['data'], [body])
  t.like(await rest.must('POST', `/v1/replays/${id}/stop`), { status: 'stopped', stopped_because: 'Stopped on request.' })
  t.like(await rest.must('POST', `/v1/replays/${id}/stop`), { status: 'stopped' })
})

test('a replay of another organization is not found, and api:read cannot start one', async (t) => {
  const fixture = await startFixture(t)
  const id = String((await fixture.rest.must('POST', '/v1/replays', { filter: {} }))['job_id'])
  const other = await fixture.addOrganization()
  t.is((await other.rest.call('GET', `/v1/replays/${id}`)).status, 404)
  t.is((await other.rest.call('POST', `/v1/replays/${id}/stop`)).status, 404)
  const reader = await fixture.withKey(['api:read'])
  t.is((await reader.call('GET', `/v1/replays/${id}`)).status, 200)
  t.is((await reader.call('POST', '/v1/replays', { filter: {} })).status, 403)
})

test('invalid replays are refused with the name of the field', async (t) => {
  const { rest } = await startFixture(t)
  const refused = async (body: unknown): Promise<string> => {
    const answer = await rest.call('POST', '/v1/replays', body)
    t.is(answer.status, 400, JSON.stringify(body))
    return (answer.body as { readonly error: { readonly message: string } }).error.message
  }
  t.regex(await refused({}), /filter/)
  t.regex(await refused({ filter: { status: 'sent' } }), /status/)
  t.regex(await refused({ filter: { since: 'yesterday' } }), /filter\.since/)
  t.regex(
    await refused({ filter: {}, target_destination_id: 'dst_none' }),
    /target_destination_id: no destination that you can access has this id/,
  )
})

test('plans below Pro have no replay', async (t) => {
  const { rest } = await startFixture(t, { plan: 'basic' })
  const { status, body } = await rest.call('POST', '/v1/replays', { filter: {} })
  t.is(status, 403)
  t.like(body, { error: { code: 'feature_disabled', next_action: 'upgrade' } })
})
