/** Marks of people on a finding: acknowledged, and muted until a time. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { showFault } from '../app/query.ts'
import { TextField } from '../parts/controls.tsx'
import { EditDialog } from '../parts/forms.tsx'
import { MoreMenu } from '../parts/menu.tsx'
import { plain } from '../parts/safe-text.tsx'
import { localInput } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import type { Finding } from '../wire/api.d.ts'
import { textOf } from './finding-text.ts'
import { texts } from './findings-texts.ts'

const dayMs = 86_400_000
/** A clock that is ahead of the service must not exceed the limit of 30 days. */
const slackMs = 300_000

interface MarksProps {
  readonly finding: Finding
  readonly onDone: (changed: Finding) => void
}

/** Menu that acknowledges, mutes or unmutes a finding. */
export function Marks({ finding, onDone }: MarksProps): JSX.Element {
  const w = texts()
  const { id, acknowledged, muted_until: until } = finding
  const [isChoosing, setChoosing] = useState(false)
  const mark = async (change: () => Promise<Finding>, done: string): Promise<void> => {
    try {
      onDone(await change())
      toast(done)
    } catch (error) {
      showFault(error)
    }
  }
  const mute = (end: string | null): Promise<Finding> => call('POST /v1/findings/{id}/mute', { path: { id }, body: { until: end } })
  const muteFor = (days: number): Promise<void> => {
    const end = new Date(Date.now() + days * dayMs - slackMs).toISOString()
    return mark(() => mute(end), w.mutedNow)
  }
  return (
    <MoreMenu
      acts={(then) => (
        <>
          {acknowledged === null && (
            <button onClick={then(() => void mark(() => call('POST /v1/findings/{id}/acknowledge', { path: { id } }), w.acknowledgedNow))}>
              {w.acknowledge}
            </button>
          )}
          {[1, 7, 30].map((days) => (
            <button key={days} onClick={then(() => void muteFor(days))}>
              {w.muteFor({ days })}
            </button>
          ))}
          <button onClick={then(() => setChoosing(true))}>{w.muteUntil}</button>
          {until !== null && <button onClick={then(() => void mark(() => mute(null), w.unmutedNow))}>{w.unmute}</button>}
        </>
      )}
    >
      {isChoosing && <MuteDialog finding={finding} onClose={() => setChoosing(false)} onSave={async (end) => onDone(await mute(end))} />}
    </MoreMenu>
  )
}

interface MuteProps {
  readonly finding: Finding
  readonly onClose: () => void
  readonly onSave: (until: string) => Promise<void>
}

/** Dialog with a free end of the mute. It begins with the current end, or with a day from now. */
function MuteDialog({ finding, onClose, onSave }: MuteProps): JSX.Element {
  const w = texts()
  const { muted_until: until } = finding
  const isMuted = until !== null && Date.parse(until) > Date.now()
  const save = async ({ at }: { readonly at: string }): Promise<string> => {
    // the service rejects an invalid time, and the field shows its error
    await onSave(Number.isNaN(Date.parse(at)) ? at : new Date(at).toISOString())
    return w.mutedNow
  }
  return (
    <EditDialog
      title={w.muteTitle}
      submit={w.mute}
      begin={{ at: localInput(isMuted ? until : new Date(Date.now() + dayMs).toISOString()) }}
      onClose={onClose}
      onSave={save}
    >
      {({ at }) => (
        <>
          <p>{w.muteText({ title: plain(textOf(finding).title) })}</p>
          <TextField label={w.muteEnd} hint={w.muteEndHint} type="datetime-local" {...at('at', 'until')} />
        </>
      )}
    </EditDialog>
  )
}
