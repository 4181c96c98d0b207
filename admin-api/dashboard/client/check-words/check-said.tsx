/** What a check says, in the chosen language from the codes of the service; in English where a report of an earlier release has none. */
import type { JSX } from 'preact'
import { SafeText } from '../parts/safe-text.tsx'
import { loaded } from '../words/catalog.ts'
import type { InspectTest } from '../wire/operations.ts'

/** By the codes of the service, whose own words are the English ones. */
type Texts = Readonly<Record<'sentences' | 'problems', Readonly<Record<string, string>>>>

const texts = loaded<Texts>('checks', (language) =>
  language === 'en' ? Promise.resolve({ default: { sentences: {}, problems: {} } }) : import(`../../../catalogs/checks/${language}.json`),
)

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

/** Why a mail could not be checked. */
export function ProblemSaid({ english, code }: { readonly english: string; readonly code: string | null }): JSX.Element {
  const known = texts().problems
  return code !== null && Object.hasOwn(known, code) ? <span>{known[code]}</span> : <span lang="en">{english}</span>
}

/** Undefined where the language has no words for it. Values are put in once, so that braces in them mean nothing. */
function inWords({ code, values }: Said): string | undefined {
  const known = texts().sentences
  return Object.hasOwn(known, code) ? known[code]?.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '') : undefined
}
