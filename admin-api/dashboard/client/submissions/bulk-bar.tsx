/** Bulk actions on selected submissions. Deletion requires typing a confirmation. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useBusy } from '../parts/controls.tsx'
import { EndDialog } from '../parts/forms.tsx'
import { toast } from '../parts/toast.tsx'
import type { FormSubmission } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { changeMany, type BulkAction } from './changes.ts'
import { texts } from './submissions-texts.ts'

interface BulkProps {
  readonly chosen: readonly FormSubmission[]
  readonly onClear: () => void
  readonly onDone: () => void
}

export function BulkBar({ chosen, onClear, onDone }: BulkProps): JSX.Element {
  const w = texts()
  const [isEnding, setEnding] = useState(false)
  const [isBusy, start] = useBusy()
  const isSpam = chosen.every(({ status }) => status === 'spam')
  const act = (action: BulkAction): void =>
    start(async () => {
      if (await changeMany(chosen, action, onDone)) onDone()
    })
  return (
    <div class="bulk" role="group" aria-label={w.chosen({ n: chosen.length })}>
      <b>{w.chosen({ n: chosen.length })}</b>
      <button class="button small" aria-disabled={isBusy} onClick={() => act('archive')}>
        {w.archive}
      </button>
      <button class="button small" aria-disabled={isBusy} onClick={() => act(isSpam ? 'not_spam' : 'spam')}>
        {isSpam ? w.notSpam : w.spam}
      </button>
      <button class="button small danger" aria-disabled={isBusy} onClick={() => setEnding(true)}>
        {w.deleteThem}
      </button>
      <button class="button small quiet" onClick={onClear}>
        {allTexts().cancel}
      </button>
      {isEnding && (
        <EndDialog
          title={w.deleteMany({ n: chosen.length })}
          effects={[w.deleteEffect]}
          name={String(chosen.length)}
          submit={w.deleteMany({ n: chosen.length })}
          onClose={() => setEnding(false)}
          onSubmit={async () => {
            if (!(await changeMany(chosen, 'delete', onDone))) return
            setEnding(false)
            toast(w.deletedMany({ n: chosen.length }))
            onDone()
          }}
        />
      )}
    </div>
  )
}
