/** Text of a timeline entry in the current language, built from its codes. Falls back to the text of the service. */
import type { JSX } from 'preact'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { useRead } from '../app/query.ts'
import type { Trace } from '../wire/api.d.ts'
import { language } from '../texts/language.ts'
import { sentenceOf, type Entry } from './sentence-of.ts'

interface EntryProps {
  readonly entry: Entry
  readonly trace: Trace
}

/** Events about a future time. Their text shows local time; the text of the service uses UTC. */
const aboutTimes: ReadonlySet<string> = new Set(['scheduled', 'approval_requested'])

/**
 * Returns undefined for unknown codes, and in English, because the service then says more. Events about a future time always have a text
 * here.
 */
export function useSentence({ entry, trace }: EntryProps): string | undefined {
  const { detail } = entry
  const id = [detail['to'], detail['destination_id']].find((one) => typeof one === 'string')
  const isNeeded = language.value !== 'en' && (entry.event === 'failover' || entry.event === 'waiting')
  const { data } = useRead('/v1/destinations/{id}', isNeeded && id !== undefined ? { path: { id } } : undefined)
  const isOwn = language.value !== 'en' || aboutTimes.has(entry.event)
  return !isOwn ? undefined : sentenceOf(entry, trace, (other) => (data?.id === other ? plain(data.name) : other))
}

export function EntrySentence({ entry, trace }: EntryProps): JSX.Element {
  const own = useSentence({ entry, trace })
  if (own !== undefined) return <p>{own}</p>
  return (
    <p lang={language.value === 'en' ? undefined : 'en'}>
      <SafeText text={entry.message} />
    </p>
  )
}
