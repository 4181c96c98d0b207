/**
 * Shows the result of a check in the current language, translated from the codes of the service. Reports of earlier releases without codes
 * appear in English.
 */
import type { JSX } from 'preact'
import { SafeText } from '../parts/safe-text.tsx'
import { loaded } from '../words/catalog.ts'
import type { InspectTest } from '../wire/operations.ts'

/** Translated texts by code. The service supplies the English texts. */
type Texts = Readonly<Record<'sentences' | 'problems', Readonly<Record<string, string>>>>

const texts = loaded<Texts>('checks', (language) =>
  language === 'en' ? Promise.resolve({ default: { sentences: {}, problems: {} } }) : import(`../../../catalogs/checks/${language}.json`),
)

type Said = InspectTest['checks'][number]['summary_said'][number]

interface CheckSaidProps {
  /** English text of the service. */
  readonly english: string
  readonly said: readonly Said[] | Said
}

/** Shows all sentences translated, or all in English if a translation is missing. */
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

/** Reason why a message could not be checked. */
export function ProblemSaid({ english, code }: { readonly english: string; readonly code: string | null }): JSX.Element {
  const known = texts().problems
  return code !== null && Object.hasOwn(known, code) ? <span>{known[code]}</span> : <span lang="en">{english}</span>
}

/** Returns undefined without a translation. A single pass replaces the placeholders, so that braces in values stay literal. */
function inWords({ code, values }: Said): string | undefined {
  const known = texts().sentences
  return Object.hasOwn(known, code) ? known[code]?.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '') : undefined
}
