/** Texts of a report in the chosen language, by code. A text of another release is shown in English, as the report has it. */
import type { JSX } from 'preact'
import type { ConfigCatalogs } from '#config/catalogs/config-catalogs.ts'
import { codedMessage } from '#config/texts/coded-message.ts'
import { SafeText } from '../parts/safe-text.tsx'
import { loaded } from '../texts/catalog.ts'
import type { InspectTest } from '../wire/api.d.ts'

type CheckTexts = ConfigCatalogs['checks']

const texts = loaded<CheckTexts>('checks', (language) => import(`../../../../config/catalogs/${language}/checks.json`))

type Said = InspectTest['checks'][number]['summary_said'][number]

interface CheckSaidProps {
  readonly english: string
  readonly said: readonly Said[] | Said
}

export function CheckSaid({ english, said }: CheckSaidProps): JSX.Element {
  const sentences = [said].flat().map(({ code, values }) => codedMessage(texts().sentences, code, values))
  const isKnown = sentences.length > 0 && sentences.every((sentence) => sentence !== undefined)
  return inLanguage(isKnown ? sentences.join(' ') : undefined, english)
}

/** Name of a check or rule, reason of a cap, or problem of a test. */
export const CheckName = ({
  of,
  code,
  english,
}: {
  readonly of: Exclude<keyof CheckTexts, 'sentences'>
  readonly code: string | null
  readonly english: string
}): JSX.Element => inLanguage(code === null ? undefined : codedMessage(texts()[of], code), english)

const inLanguage = (text: string | undefined, english: string): JSX.Element =>
  text === undefined ? (
    <span lang="en">
      <SafeText text={english} />
    </span>
  ) : (
    <SafeText text={text} />
  )
