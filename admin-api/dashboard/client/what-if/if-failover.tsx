/** Failover chain of a trial: primary destination, fallbacks in order, and conditions. */
import type { JSX } from 'preact'
import { ChooseField } from '../parts/controls.tsx'
import { conditionTexts } from '../routing/edit-failover.tsx'
import { texts } from '../routing/routing-texts.ts'

/** Form values as in the address: comma-separated ids and causes. No chain without a primary destination. */
export interface Chain {
  readonly primary: string
  readonly fallbacks: string
  readonly on: string
}

interface IfFailoverProps {
  readonly chain: Chain
  readonly onChange: (chain: Chain) => void
  readonly named: readonly (readonly [id: string, name: string])[]
}

const causes = ['transient', 'rate_limited', 'breaker_open', 'misconfigured'] as const
const maxFallbacks = 3
const none = ['', '–'] as const

export const idsOf = (text: string): string[] => text.split(',').filter(Boolean)

export function IfFailover({ chain, onChange, named }: IfFailoverProps): JSX.Element | null {
  const w = texts()
  if (named.length < 2) return null
  const { primary } = chain
  const [fallbacks, on] = [idsOf(chain.fallbacks), idsOf(chain.on)]
  const change = (changes: { readonly primary?: string; readonly fallbacks?: readonly string[]; readonly on?: readonly string[] }): void =>
    onChange({
      primary: changes.primary ?? primary,
      fallbacks: (changes.fallbacks ?? fallbacks).join(','),
      on: (changes.on ?? on).join(','),
    })
  const setAt = (at: number, id: string): void =>
    change({
      fallbacks: (id === '' ? fallbacks.toSpliced(at, 1) : fallbacks.toSpliced(at, 1, id)).filter((one, i, all) => all.indexOf(one) === i),
    })
  const others = named.filter(([id]) => id !== primary)
  return (
    <fieldset class="choices">
      <legend>{w.ifFailover}</legend>
      <ChooseField
        label={w.primary}
        value={primary}
        onChange={(id) =>
          change({
            primary: id,
            fallbacks: id === '' ? [] : fallbacks.filter((one) => one !== id),
            on: id === '' ? [] : on.length > 0 ? on : ['transient', 'breaker_open'],
          })
        }
        options={[none, ...named]}
      />
      {primary !== '' &&
        Array.from({ length: Math.min(fallbacks.length + 1, others.length, maxFallbacks) }, (_, at) => (
          <ChooseField
            key={at}
            label={w.fallbackN({ n: at + 1 })}
            value={fallbacks[at] ?? ''}
            onChange={(id) => setAt(at, id)}
            options={[none, ...others]}
          />
        ))}
      {primary !== '' &&
        causes.map((cause) => (
          <label class="check" key={cause}>
            <input
              type="checkbox"
              checked={on.includes(cause)}
              onChange={(event) => change({ on: event.currentTarget.checked ? [...on, cause] : on.filter((one) => one !== cause) })}
            />
            {conditionTexts()[cause]}
          </label>
        ))}
    </fieldset>
  )
}
