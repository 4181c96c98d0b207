/** What a check says, in the chosen language from the codes of the service; in English where a report of an earlier release has none. */
import type { JSX } from 'preact'
import { SafeText } from '../parts/safe-text.tsx'
import { inLanguages } from '../words/words.ts'
import type { InspectTest } from '../wire/operations.ts'
import { de } from '../../../pages/inspect/words/checks.de.ts'
import { fr } from '../../../pages/inspect/words/checks.fr.ts'
import { it } from '../../../pages/inspect/words/checks.it.ts'
import { de as deNames } from '../../../pages/inspect/words/names.de.ts'
import { fr as frNames } from '../../../pages/inspect/words/names.fr.ts'
import { it as itNames } from '../../../pages/inspect/words/names.it.ts'

type Said = InspectTest['checks'][number]['summary_said'][number]

interface CheckSaidProps {
  /** As the service words it, which is what English shows. */
  readonly english: string
  readonly said: readonly Said[] | Said
}

/** In one language as a whole. */
export function CheckSaid({ english, said }: CheckSaidProps): JSX.Element {
  const worded = [said].flat().map(inWords)
  const isWorded = worded.length > 0 && worded.every((sentence) => sentence !== undefined)
  return isWorded ? (
    <SafeText text={worded.join(' ')} />
  ) : (
    <span lang="en">
      <SafeText text={english} />
    </span>
  )
}

const problems = inLanguages<Readonly<Record<string, string>>>({
  en: {},
  de: deNames.problems,
  fr: frNames.problems,
  it: itNames.problems,
})

/** Why a mail could not be checked. */
export function ProblemSaid({ english, code }: { readonly english: string; readonly code: string | null }): JSX.Element {
  const known = problems()
  return code !== null && Object.hasOwn(known, code) ? <span>{known[code]}</span> : <span lang="en">{english}</span>
}

const words = inLanguages<Readonly<Record<string, string>>>({ en: {}, de, fr, it })

/** Undefined where the language has no words for it. Values are put in once, so that braces in them mean nothing. */
function inWords({ code, values }: Said): string | undefined {
  const known = words()
  return Object.hasOwn(known, code) ? known[code]?.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '') : undefined
}
