/** Writes the octets of a composed message to a draft: stored content that is not committed yet. */
import type { Draft } from '#store/content.ts'
import type { Composed } from './compose.ts'

/**
 * Writes the message piece by piece. Files are encoded one piece at a time, after the previous piece was written. Discards the draft on an
 * error.
 */
export async function drafted(draft: Draft, { pieces }: Pick<Composed, 'pieces'>): Promise<Draft> {
  try {
    for (const piece of pieces) {
      if (Buffer.isBuffer(piece)) await draft.write(piece)
      else for (const lines of piece.lines()) await draft.write(lines, true)
    }
    return draft
  } catch (error) {
    await draft.discard()
    throw error
  }
}
