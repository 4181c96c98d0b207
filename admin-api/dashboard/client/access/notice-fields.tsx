/** Form fields for failure notices to authors, shared by SMTP logins and send-only keys. */
import type { JSX } from 'preact'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { number } from '../parts/time.ts'
import type { ApiKey } from '../wire/api.d.ts'
import { texts } from './access-texts.ts'

type Noticing = Pick<ApiKey, 'failure_notices' | 'failure_notice_to'>
type Today = ApiKey['failure_notices_today']

/** Form values as text. */
export const noticeDraftOf = (record: Noticing) => ({
  notices: record.failure_notices,
  noticeTo: record.failure_notice_to ?? '',
})
type NoticeDraft = ReturnType<typeof noticeDraftOf>

/** Returns only the changed fields. */
export const noticeBodyOf = (record: Noticing, { notices, noticeTo }: NoticeDraft) => ({
  ...(notices !== record.failure_notices && { failure_notices: notices }),
  ...(noticeTo !== (record.failure_notice_to ?? '') && { failure_notice_to: noticeTo }),
})

/** Returns the number of notices sent and withheld today, as text. */
export const noticesToday = ({ sent, withheld }: Today): string => texts().noticeCounts({ sent: number(sent), withheld: number(withheld) })

interface NoticeProps {
  readonly notices: Bound<Noticing['failure_notices']>
  readonly to: Bound<string>
}

interface Bound<T> {
  readonly value: T
  readonly onChange: (value: T) => void
  readonly fault: string | undefined
}

const modes = ['auto', 'on', 'off'] as const

/** Fields for the mode and the recipient of failure notices. */
export function NoticeFields({ notices, to }: NoticeProps): JSX.Element {
  const w = texts()
  const choose = (text: string): void => notices.onChange(modes.find((mode) => mode === text) ?? 'auto')
  const options = modes.map((mode) => [mode, w.noticeModes[mode]] as const)
  return (
    <>
      <ChooseField label={w.notices} hint={w.noticesHint} {...notices} onChange={choose} options={options} />
      <TextField label={w.noticeTo} hint={w.noticeToHint} type="email" {...to} />
    </>
  )
}
