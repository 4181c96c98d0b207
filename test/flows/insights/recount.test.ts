/** Every kind of send over several hours: the figures equal a recount of all traces. */
import test from '#test'
import { addDestination, startFixture } from '../../admin-api/rest/fixture/rest-fixture.ts'

interface Listed {
  readonly outcome: string
  readonly project_id: string
}

test('insights: figures equal a recount of the traces, before and after aggregation', async (t) => {
  const fixture = await startFixture(t)
  const { rest, clock, daemon } = fixture
  const rollUp = daemon.part('rollUp')
  await rollUp.rollUp()
  const began = new Date(clock.now()).toISOString()
  const live = await addDestination(rest, {}, true)
  const sandbox = await addDestination(rest)
  const other = String((await rest.must('POST', '/v1/projects', { name: 'Other' }))['id'])
  await rest.must('POST', '/v1/suppressions', { email: 'gone@example.ch' })
  const later = (): string => new Date(clock.now() + 86_400_000).toISOString()
  const kinds: readonly (() => object)[] = [
    () => ({ destination_id: live }),
    () => ({ destination_id: sandbox }),
    () => ({ destination_id: 'dst_none' }),
    () => ({ destination_id: live, to: ['gone@example.ch', 'ada@example.ch'] }),
    () => ({ destination_id: live, scheduled_at: later() }),
    () => ({ scheduled_at: later() }),
    () => ({ project_id: other }),
    () => ({}),
  ]
  for (let i = 0; i < 48; i++) {
    clock.advance(7 * 60_000)
    const body = { from: 'shop@example.ch', to: 'ada@example.ch', text: 'x', ...kinds[i % kinds.length]?.() }
    const headers = i % kinds.length === 7 ? { 'idempotency-key': `key ${i % 3}` } : {}
    await rest.call('POST', '/v1/messages', body, headers)
  }
  const counted = await recount()
  const seen = async (query = ''): Promise<object> =>
    (await rest.must('GET', `/v1/insights/sends?from=${began}${query}`))['totals'] as object
  await daemon.pass(1000) // refusals stay in memory for one second
  for (const turn of ['by minute', 'added up']) {
    t.like(
      await seen(),
      counted(() => true),
      turn,
    )
    t.like(
      await seen(`&project=${other}`),
      counted(({ project_id: of }) => of === other),
      turn,
    )
    clock.advance(3_600_000)
    await rollUp.rollUp()
  }
  t.like(
    counted(() => true),
    { relayed: 18, captured_sandbox_destination: 6, refused: 6 },
  )

  async function recount(): Promise<(isMeant: (trace: Listed) => boolean) => Readonly<Record<string, number>>> {
    const { data } = (await rest.must('GET', '/v1/traces?limit=200')) as unknown as { readonly data: readonly Listed[] }
    return (isMeant) => {
      const meant = data.filter(isMeant)
      const of = (outcome: string): number => meant.filter((trace) => trace.outcome === outcome).length
      return {
        relayed: of('relayed'),
        captured_sandbox_destination: of('captured.sandbox_destination'),
        captured_no_route: of('captured.no_route'),
        refused: of('refused'),
      }
    }
  }
})
