/** Panel with a trace next to the list. The list stays usable, and keys move to the next trace. */
import type { JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { keyFor } from '../app/keys.ts'
import { link } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { CopyButton } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Show } from '../parts/states.tsx'
import { texts } from '../texts/texts.ts'
import { isWhole, refreshMsOf, TraceHead, TraceTimeline } from './trace-timeline.tsx'

interface TracePanelProps {
  readonly id: string
  readonly onClose: () => void
  readonly onStep: (by: number) => void
}

export function TracePanel({ id, onClose, onStep }: TracePanelProps): JSX.Element {
  const w = texts()
  const read = useRead('/v1/traces/{trace_id}', { path: { trace_id: id } })
  const refresh = useRead('/v1/traces/{trace_id}', { path: { trace_id: id } }, { every: refreshMsOf(read.data) })
  const panel = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const { activeElement: opener } = document
    return () => {
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  useLayoutEffect(() => panel.current?.focus(), [id])
  return (
    <aside class="panel" aria-label={w.trace} tabIndex={-1} ref={panel}>
      <header>
        <code title={id}>{id.slice(0, 8)}</code>
        <CopyButton text={id} label={w.copyId} />
        <span class="top-tools">
          <button class="button quiet square" aria-label={w.previous} aria-keyshortcuts={keyFor('[')} onClick={() => onStep(-1)}>
            <Icon name="left" />
          </button>
          <button class="button quiet square" aria-label={w.next} aria-keyshortcuts={keyFor(']')} onClick={() => onStep(1)}>
            <Icon name="right" />
          </button>
          <a class="button quiet" href={link(`/traces/${id}`)}>
            <span class="cut">{w.openFullPage}</span>
          </a>
          <button class="button quiet square" aria-label={w.close} aria-keyshortcuts="Escape" onClick={onClose}>
            <Icon name="close" />
          </button>
        </span>
      </header>
      <div class="panel-inside">
        <Show read={refresh.data ? refresh : read} reload={read.reload} failure={w.traceFailed}>
          {(trace) =>
            isWhole(trace) && (
              <>
                <TraceHead trace={trace} />
                <TraceTimeline trace={trace} />
              </>
            )
          }
        </Show>
      </div>
    </aside>
  )
}
