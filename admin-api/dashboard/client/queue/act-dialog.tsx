/** Dialog for a queue action: the number of matching messages, a reason and a confirmation. Dropping requires typing the number. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { go } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { TextField } from '../parts/controls.tsx'
import { Fault, FormDialog } from '../parts/forms.tsx'
import { Loading } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import { OfOrganization } from '../queue-side/of-organization.tsx'
import { answer, useSide } from '../queue-side/queue-side.ts'
import type { QueueAct } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { Parts } from './counts.tsx'
import { givenOf, type ActFilter, type ActName, type NamedDestination } from './filter.ts'
import { releaseHeldBy } from './release.ts'
import { texts } from './queue-texts.ts'

export interface Asked {
  readonly act: ActName
  readonly filter: ActFilter
  /** Clears the selection of rows. */
  readonly done?: () => void
}

interface ActDialogProps {
  readonly asked: Asked
  readonly destinations: readonly NamedDestination[]
  readonly onClose: () => void
}

export function ActDialog({ asked: { act, filter, done }, destinations, onClose }: ActDialogProps): JSX.Element {
  const w = texts()
  const side = useSide()
  const preview = useRead(...side.act({ act, filter, dry_run: true }), { isShown: true })
  const [reason, setReason] = useState('')
  const [typed, setTyped] = useState('')
  const matched = preview.data?.matched ?? 0
  const isConfirmed = act !== 'drop' || typed.trim() === String(matched)
  const run = async (): Promise<void> => {
    if (!preview.data) return
    try {
      const body = { act, filter: givenOf(preview.data.filter), expected: matched, ...(reason.trim() !== '' && { reason: reason.trim() }) }
      const { id } = await answer(side.act(body))
      done?.()
      toast(w.begun[act], act === 'hold' && id !== null ? () => void releaseHeldBy(side, id) : undefined)
      go(side.actsLink(id ?? ''))
    } catch (error) {
      preview.reload() // if more messages match now, the dialog shows the new number
      throw error
    }
  }
  return (
    <FormDialog
      title={preview.data ? w.questions[act]({ n: matched }) : w.verbs[act]}
      submit={w.verbs[act]}
      isDangerous={act === 'drop'}
      needsConfirmation={side.organization !== undefined}
      isReady={preview.state === 'ready' && matched > 0 && isConfirmed}
      onClose={onClose}
      onSubmit={run}
    >
      {(fault) => (
        <>
          <OfOrganization />
          {preview.state === 'failed' && <Fault fault={preview.fault} />}
          {preview.data ? <Found found={preview.data} destinations={destinations} /> : preview.state === 'loading' && <Loading rows={2} />}
          <p>{w.effects[act]}</p>
          <TextField label={w.reason} hint={w.reasonHint} value={reason} onChange={setReason} fault={fault?.fields.get('reason')} />
          {act === 'drop' && matched > 0 && (
            <TextField label={allTexts().typeToConfirm({ name: String(matched) })} value={typed} onChange={setTyped} />
          )}
        </>
      )}
    </FormDialog>
  )
}

interface FoundProps {
  readonly found: QueueAct
  readonly destinations: readonly NamedDestination[]
}

const Found = ({ found: { matched, complete, lanes }, destinations }: FoundProps): JSX.Element => (
  <>
    {matched === 0 && <p class="big-count">{texts().noneMatches}</p>}
    <Parts lanes={lanes ?? []} destinations={destinations} />
    {!complete && <p>{texts().isMore}</p>}
  </>
)
