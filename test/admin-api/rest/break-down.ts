/** A destination that does not work, as the delivery attempts of a rig would have found it. */
import type { Rig } from './rig.ts'

/** The destination fails until its circuit breaker opens. */
export async function breakDown({ rest, board, organizationId }: Rig, id: string): Promise<void> {
  const updatedAt = Date.parse(String((await rest.must('GET', `/v1/destinations/${id}`))['updated_at']))
  const error = { code: 'connect_timeout', message: 'Nobody answered.', phase: 'connect' }
  const report = { error, milliseconds: { total: 1 }, recipients: [{ address: 'ada@example.ch', verdict: 'transient' as const }] }
  for (let n = 0; n < 5; n++) {
    board.attempting({ id, updatedAt })
    board.attempted(organizationId, { id, updatedAt }, report as never)
  }
}
