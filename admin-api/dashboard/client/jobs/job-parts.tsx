/** Parts of the page of a background job on many messages: progress, facts, failure and the stop button. */
import type { JSX } from 'preact'
import { showFault, useTicks, type Reading } from '../app/query.ts'
import { CopyButton, Gauge } from '../parts/controls.tsx'
import { Mark } from '../parts/mark.tsx'
import { number } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { Facts } from '../parts/safe-text.tsx'
import { texts } from '../texts/texts.ts'

const runningMs = 1000

/** Reads a job periodically while it runs. Returns a function that stops it. */
export function useJob(
  isRunning: boolean,
  { reload, refresh }: Pick<Reading<unknown>, 'reload' | 'refresh'>,
  stop: () => Promise<unknown>,
  stopped: string,
): () => Promise<void> {
  useTicks(isRunning ? runningMs : undefined, refresh)
  return async () => {
    try {
      await stop()
      toast(stopped)
    } catch (error) {
      showFault(error)
    }
    reload()
  }
}

/** Note about a job. `text` is an English text of the service. */
export const JobNote = ({ title, text }: { readonly title: string; readonly text: string }): JSX.Element => (
  <div class="block">
    <div class="note warn">
      <Mark name="warning" />
      <p>
        <b>{title}</b> <span lang="en">{text}</span>
      </p>
    </div>
  </div>
)

interface JobFigure {
  readonly name: string
  readonly value: number
  readonly unit?: string
}

interface JobFiguresProps {
  /** The first figure is the number of processed items. */
  readonly figures: readonly JobFigure[]
  /** Total number of items, or 0 if unknown. */
  readonly of: number
  /** Number of processed items. */
  readonly done: number
}

export const JobFigures = ({ figures, of, done }: JobFiguresProps): JSX.Element => (
  <dl class="ledger">
    {figures.map(({ name, value, unit = '' }, i) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>
          <b>{number(value)}</b> <span>{i === 0 && of > 0 ? texts().of({ limit: number(of) }) : unit}</span>
          {i === 0 && of > 0 && <Gauge used={done} limit={of} isProgress />}
        </dd>
      </div>
    ))}
  </dl>
)

interface JobFactsProps {
  readonly rows: readonly (readonly [name: string, value: JSX.Element | string])[]
  readonly id: string | null
}

export const JobFacts = ({ rows, id }: JobFactsProps): JSX.Element => (
  <Facts
    rows={[
      ...rows,
      [
        'id',
        <>
          {id}
          <CopyButton text={id ?? ''} label={texts().copyId} />
        </>,
      ],
    ]}
  />
)
