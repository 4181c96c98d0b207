/** Sentence about a list that has more rows than `useAll` reads. */
import type { JSX } from 'preact'
import { texts } from '../texts/shell-texts.ts'

/** A list that may be cut, as `useAll` returns it. */
export interface MaybeCut {
  readonly rows: readonly unknown[]
  readonly isComplete: boolean
}

/** Returns the sentence about a cut list. Undefined if the list is complete. */
export const newestShown = ({ rows, isComplete }: MaybeCut): string | undefined =>
  isComplete ? undefined : texts().newestShown({ n: rows.length })

/** Says that a list is cut. Renders nothing for a complete list. */
export const Newest = ({ of }: { readonly of: MaybeCut }): JSX.Element | null => {
  const text = newestShown(of)
  return text === undefined ? null : <p class="faint">{text}</p>
}
