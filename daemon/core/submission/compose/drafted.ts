/** Writes a composed message into the draft of its content. */
import type { Draft } from '#store/content.ts'
import type { Composed } from './compose.ts'

/** Writes a message piece by piece. Pieces of a file are encoded one at a time, after the previous piece was written. */
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
