/** The sentence of an entry: in the language of the reader where its codes explain it, else in the words of the service. */
import type { JSX } from 'preact'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { useRead } from '../app/query.ts'
import { getDestination, type Trace } from '../wire/operations.ts'
import { language } from '../words/language.ts'
import { sentenceOf, type Entry } from './sentence-of.ts'

interface EntryProps {
  readonly entry: Entry
  readonly trace: Trace
}

/** What is about a time to come is said in the time of the reader; the service has it in UTC. */
const aboutTimes: ReadonlySet<string> = new Set(['scheduled', 'approval_requested'])

/** Undefined in English, in which the service says more, and for an entry that its codes do not explain. */
export function useSentence({ entry, trace }: EntryProps): string | undefined {
  const { detail } = entry
  const id = [detail['to'], detail['destination_id']].find((one) => typeof one === 'string')
  const isNeeded = language.value !== 'en' && (entry.event === 'failover' || entry.event === 'waiting')
  const { data } = useRead(getDestination, isNeeded && id !== undefined ? { path: { id } } : undefined)
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
