/** Actions on selected traces: save them as a file, or send failed ones again. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { FormDialog } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { number } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import type { TraceSummary } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { saveTraces } from './trace-file.ts'
import { texts } from '../traces/traces-texts.ts'

/** Limit of the selection. Replays in `client/replays/` handle more by a filter. */
const maxReplayed = 100

interface ChosenProps {
  readonly chosen: readonly TraceSummary[]
  readonly onDone: () => void
}

/** Whether a replay is possible. It excludes delivered messages and messages that bounced after acceptance. */
const isReplayable = ({ outcome, status }: TraceSummary): boolean => outcome === 'relayed' && (status === 'failed' || status === 'queued')

export function Chosen({ chosen, onDone }: ChosenProps): JSX.Element {
  const w = texts()
  const [isAsking, setAsking] = useState(false)
  const replayable = chosen.filter(isReplayable)
  return (
    <>
      <button class="button small" onClick={() => saveTraces(chosen)}>
        <Icon name="download" />
        {w.save}
      </button>
      {mayChange.value && replayable.length > 0 && (
        <button class="button small" onClick={() => setAsking(true)}>
          <Icon name="replay" />
          {w.replayChosen({ n: number(replayable.length) })}
        </button>
      )}
      {isAsking && <Replay traces={replayable} onClose={() => setAsking(false)} onDone={onDone} />}
    </>
  )
}

interface ReplayProps {
  readonly traces: readonly TraceSummary[]
  readonly onClose: () => void
  readonly onDone: () => void
}

function Replay({ traces, onClose, onDone }: ReplayProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const isTooMany = traces.length > maxReplayed
  const run = async (): Promise<void> => {
    for (const { trace_id: id } of traces)
      await call('POST /v1/traces/{trace_id}/retry', { path: { trace_id: id }, body: { include_unknown: false } })
    toast(w.replayedChosen({ n: number(traces.length) }))
    onClose()
    onDone()
  }
  return (
    <FormDialog
      title={w.replayChosenQuestion({ n: number(traces.length) })}
      submit={common.replayNow}
      isReady={!isTooMany}
      onClose={onClose}
      onSubmit={run}
    >
      {() => (
        <>
          <p>{w.replayChosenText}</p>
          {isTooMany && (
            <p class="warn">
              {w.replayTooMany({ n: number(maxReplayed) })} <a href={link('/queue/replays')}>{common.replays}</a>
            </p>
          )}
        </>
      )}
    </FormDialog>
  )
}
