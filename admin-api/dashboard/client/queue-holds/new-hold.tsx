/** Dialog that creates a standing hold. It shows the matching messages and asks for a reason. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { showFault, useRead } from '../app/query.ts'
import { TextField } from '../parts/controls.tsx'
import { Fault, FormDialog } from '../parts/forms.tsx'
import { Loading } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import { OfOrganization } from '../queue-side/of-organization.tsx'
import { answer, useSide, type QueueSide } from '../queue-side/queue-side.ts'
import { HoldText } from '../queue/act-marks.tsx'
import { Parts } from '../queue/counts.tsx'
import type { HoldFilter, NamedDestination } from '../queue/filter.ts'
import { texts } from '../queue/queue-texts.ts'

interface NewHoldProps {
  readonly filter: HoldFilter
  readonly destinations: readonly NamedDestination[]
  readonly onDone: () => void
  readonly onClose: () => void
}

export function NewHold({ filter, destinations, onDone, onClose }: NewHoldProps): JSX.Element {
  const w = texts()
  const side = useSide()
  const preview = useRead(...side.act({ act: 'hold', filter, dry_run: true }), { isShown: true })
  const [reason, setReason] = useState('')
  const hold = async (): Promise<void> => {
    const body = { filter, ...(reason.trim() !== '' && { reason: reason.trim() }) }
    const { id } = await answer(side.hold(body))
    toast(w.holdSet, () => void lift(side, id, onDone))
    onClose()
    onDone()
  }
  return (
    <FormDialog
      title={w.holdQuestion}
      submit={w.verbs.hold}
      needsConfirmation={side.organization !== undefined}
      isReady={preview.state === 'ready'}
      onClose={onClose}
      onSubmit={hold}
    >
      {(fault) => (
        <>
          <OfOrganization />
          <p>
            <b>
              <HoldText filter={filter} />
            </b>
          </p>
          {preview.state === 'failed' && <Fault fault={preview.fault} />}
          {preview.data ? (
            <>
              <p>{w.waitNow({ n: preview.data.matched ?? 0, isMore: !preview.data.complete })}</p>
              <Parts lanes={preview.data.lanes ?? []} destinations={destinations} />
            </>
          ) : (
            preview.state === 'loading' && <Loading rows={2} />
          )}
          <p>{w.holdEffect}</p>
          <TextField label={w.reason} hint={w.reasonHint} value={reason} onChange={setReason} fault={fault?.fields.get('reason')} />
        </>
      )}
    </FormDialog>
  )
}

/** Undoes the creation of a hold. */
async function lift(side: QueueSide, id: string, onDone: () => void): Promise<void> {
  try {
    await answer(side.lift(id))
    toast(texts().undone)
  } catch (error) {
    showFault(error)
  }
  onDone()
}
