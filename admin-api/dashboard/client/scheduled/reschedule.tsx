/** Dialog that changes the time of a scheduled message. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { showFault } from '../app/query.ts'
import { TextField } from '../parts/controls.tsx'
import { EditDialog } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import { localInput, longTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import type { ScheduledSend } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './scheduled-texts.ts'

interface RescheduleProps {
  readonly send: ScheduledSend
  readonly onClose: () => void
  readonly onDone: () => void
}

export function Reschedule({ send, onClose, onDone }: RescheduleProps): JSX.Element {
  const w = texts()
  const moveTo = (at: string): Promise<ScheduledSend> =>
    call('PATCH /v1/messages/scheduled/{trace_id}', { path: { trace_id: send.trace_id }, body: { send_at: at } })
  const back = async (at: string): Promise<void> => {
    try {
      await moveTo(at)
      onDone()
    } catch (error) {
      showFault(error)
    }
  }
  const save = async ({ at }: { readonly at: string }): Promise<undefined> => {
    // the service rejects an invalid time, and the field shows its error
    const time = Number.isNaN(Date.parse(at)) ? at : new Date(at).toISOString()
    const { send_at: now } = await moveTo(time)
    const before = send.send_at
    toast(w.rescheduled({ at: longTime(now ?? time) }), before === null ? undefined : () => void back(before))
    return undefined
  }
  return (
    <EditDialog
      title={w.rescheduleTitle}
      submit={w.reschedule}
      begin={{ at: localInput(send.send_at) }}
      onClose={onClose}
      onSave={save}
      onDone={onDone}
    >
      {({ at }) => (
        <>
          <p>{w.rescheduleText({ subject: plain(send.subject || allTexts().noSubject) })}</p>
          <TextField label={w.newTime} hint={w.newTimeHint} type="datetime-local" {...at('at', 'send_at')} />
        </>
      )}
    </EditDialog>
  )
}
