/** Limits and feature flags of an organization: effective values and overrides. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { useRead } from '../app/query.ts'
import { Segments } from '../parts/controls.tsx'
import { number } from '../parts/time.ts'
import type { Flag, OperatorAccount } from '../wire/api.d.ts'
import type { Input } from '../wire/route.ts'
import { texts } from './operator-texts.ts'
import { change, type TabProps } from './tab.ts'

type Value = number | boolean | null

const asText = (value: Value | undefined): string => (value === undefined || value === null ? '' : String(value))

const shown = (value: Value | undefined): string => {
  const w = texts()
  if (typeof value === 'boolean') return value ? w.yes : w.no
  return value === null || value === undefined ? w.unlimited : number(value)
}

/** Parses an input. Empty text removes the override. */
function valueOf(text: string, effective: Value | undefined): Value {
  if (text === '') return null
  return typeof effective === 'boolean' ? text === 'true' : Number(text)
}

export function LimitsTab({ account, onChanged }: TabProps): JSX.Element {
  const w = texts()
  const { limits, overrides } = account
  const names = Object.keys(limits)
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const textOf = (name: string): string => typed[name] ?? asText(overrides[name])
  const changed = names.filter((name) => textOf(name) !== asText(overrides[name]))
  const put = (values: Readonly<Record<string, Value>>) =>
    call('PUT /operator/v1/organizations/{id}/overrides', { path: { id: account.id }, body: values })
  const save = (): void => {
    const next = Object.fromEntries(changed.map((name) => [name, valueOf(textOf(name), limits[name])]))
    const before = Object.fromEntries(changed.map((name) => [name, overrides[name] ?? null]))
    void change(
      () => put(next),
      w.limitsSaved,
      () => (setTyped({}), onChanged()),
      () => put(before),
    )
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (changed.length > 0) save()
      }}
    >
      <p class="soft">{w.limitsHint}</p>
      <table class="table still-table limits" aria-label={w.limits}>
        <thead>
          <tr>
            <th>{w.limit}</th>
            <th class="num">{w.effective}</th>
            <th>{w.override}</th>
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr class="still" key={name}>
              <td class="strong">
                <WireName name={name} />
              </td>
              <td class="num">{shown(limits[name])}</td>
              <td>
                <OwnValue account={account} name={name} value={textOf(name)} onChange={(value) => setTyped({ ...typed, [name]: value })} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="actions operator-save">
        <button class="button primary" aria-disabled={changed.length === 0}>
          {w.saveLimits}
        </button>
      </div>
    </form>
  )
}

interface OwnValueProps {
  readonly account: OperatorAccount
  readonly name: string
  readonly value: string
  readonly onChange: (value: string) => void
}

/** A field name that may wrap after underscores. */
const WireName = ({ name }: { readonly name: string }): JSX.Element => (
  <code>{name.split('_').flatMap((part, at) => (at === 0 ? [part] : ['_', <wbr key={at} />, part]))}</code>
)

function OwnValue({ account, name, value, onChange }: OwnValueProps): JSX.Element {
  const w = texts()
  const label = `${w.override}: ${name}`
  if (typeof account.limits[name] === 'boolean')
    return (
      <select class="input" aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{w.byPlan}</option>
        <option value="true">{w.yes}</option>
        <option value="false">{w.no}</option>
      </select>
    )
  return (
    <input
      class="input"
      type="number"
      min="-1"
      aria-label={label}
      placeholder={w.byPlan}
      value={value}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  )
}

type Flags = Input<'PUT /operator/v1/organizations/{id}/flags'>['body']
type FlagName = keyof Flags

/** A record instead of a list, so that a missing or misspelled name fails to compile. */
const flagNames = Object.keys({
  ...{ templates: 1, bulk_replay: 1, inspect: 1, inbound_routes: 1, bounce_sources: 1, smtp_relay: 1, tenant_partitions: 1, webhooks: 1 },
  ...{ virtual_inboxes: 1, publishable_keys: 1, forms: 1, managed_websites: 1, bounce_auto_suppress: 1, verp: 1, click_tracking: 1 },
  ...{ open_tracking: 1, alerts: 1 },
} satisfies Record<FlagName, 1>) as FlagName[]

type Choice = 'default' | 'on' | 'off'

const choiceOf = (value: boolean | undefined): Choice => (value === undefined ? 'default' : value ? 'on' : 'off')
const flagOf = (choice: Choice): boolean | null => (choice === 'default' ? null : choice === 'on')

export function FlagsTab({ account, onChanged }: TabProps): JSX.Element {
  const w = texts()
  const labels: Readonly<Record<Choice, string>> = { default: w.byDefault, on: w.on, off: w.off }
  // default and effect of a flag are the same for all organizations
  const known = useRead('/v1/flags', {}, { isShown: false }).data?.data ?? []
  const labelOf = (value: Choice, flag: Flag | undefined): string =>
    value === 'default' && flag ? `${labels.default}: ${flag.default ? w.on : w.off}` : labels[value]
  const put = (name: FlagName, choice: Choice) =>
    call('PUT /operator/v1/organizations/{id}/flags', { path: { id: account.id }, body: { [name]: flagOf(choice) } })
  return (
    <ul class="operator-flags" aria-label={w.flags}>
      {flagNames.map((name) => {
        const current = choiceOf(account.flags[name])
        const flag = known.find((one) => one.flag === name)
        return (
          <li key={name}>
            <div>
              <code>{name}</code>
              {flag && <code class="faint">{[...flag.routes, ...flag.tools].join(', ')}</code>}
            </div>
            <Segments
              label={name}
              value={current}
              choices={(['default', 'on', 'off'] as const).map((value) => ({ value, label: labelOf(value, flag) }))}
              onChoose={(next) =>
                next !== current &&
                void change(
                  () => put(name, next),
                  w.flagSet({ flag: name, state: labels[next] }),
                  onChanged,
                  () => put(name, current),
                )
              }
            />
          </li>
        )
      })}
    </ul>
  )
}
