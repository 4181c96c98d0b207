/** Standing holds, which hold every matching message when it becomes due. A release also releases the held messages. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { go } from '../app/location.ts'
import type { Listing } from '../app/query.ts'
import { FormDialog } from '../parts/forms.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { exactTime, shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { OfOrganization } from '../queue-side/of-organization.tsx'
import { answer, useSide } from '../queue-side/queue-side.ts'
import type { QueueHold } from '../wire/api.d.ts'
import { HoldText } from '../queue/act-marks.tsx'
import { texts } from '../queue/queue-texts.ts'

export function Standing({ list }: { readonly list: Listing<QueueHold> }): JSX.Element | null {
  const w = texts()
  const [lifted, setLifted] = useState<QueueHold>()
  const rows = list.read.data ?? []
  if (rows.length === 0) return null
  return (
    <section class="block" aria-label={w.standing}>
      <h2>{w.standing}</h2>
      <ul class="links">
        {rows.map((hold) => (
          <Row key={hold.id} hold={hold} onLift={() => setLifted(hold)} />
        ))}
      </ul>
      {list.more && (
        <button class="button small" aria-disabled={list.isLoadingMore} onClick={list.more}>
          {w.moreHolds}
        </button>
      )}
      {lifted && <Lift hold={lifted} onClose={() => setLifted(undefined)} />}
    </section>
  )
}

function Row({ hold, onLift }: { readonly hold: QueueHold; readonly onLift: () => void }): JSX.Element {
  const w = texts()
  const side = useSide()
  const { id, filter, reason, created_at: at, set_by: by, of_operator: isOperators } = hold
  const mayLift = side.organization === undefined ? side.mayChange() && !isOperators : true
  return (
    <li>
      <Mark name="paused" />
      <span>
        <b>
          <HoldText filter={filter} />
        </b>{' '}
        ·{' '}
        <time datetime={at} title={exactTime(at)}>
          {shortTime(at)}
        </time>{' '}
        · <SafeText text={w.heldBy({ by: isOperators ? w.theOperator : by, hasReason: Boolean(reason), reason: reason ?? '' })} /> ·{' '}
        <a href={side.queueLink({ held: 'true', held_by: id })}>{w.heldNow}</a>
      </span>
      {mayLift && (
        <button class="button small" onClick={onLift}>
          {w.verbs.release}…
        </button>
      )}
    </li>
  )
}

function Lift({ hold, onClose }: { readonly hold: QueueHold; readonly onClose: () => void }): JSX.Element {
  const w = texts()
  const side = useSide()
  return (
    <FormDialog
      title={w.liftQuestion}
      submit={w.verbs.release}
      needsConfirmation={side.organization !== undefined}
      onClose={onClose}
      onSubmit={async () => {
        const { id } = await answer(side.lift(hold.id))
        toast(w.begun.release)
        go(side.actsLink(id ?? ''))
      }}
    >
      {() => (
        <>
          <OfOrganization />
          <p>
            <HoldText filter={hold.filter} />
          </p>
          <p>{w.liftEffect}</p>
        </>
      )}
    </FormDialog>
  )
}
