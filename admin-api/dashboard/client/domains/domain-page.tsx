/** Page of a sending domain: expected and found values of each DNS record. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { keyFor, useKeys } from '../app/keys.ts'
import { go, link } from '../app/location.ts'
import { mayAdminister } from '../app/permissions.ts'
import { showFault, useRead } from '../app/query.ts'
import { HealthLine } from '../health/resource-health.tsx'
import { copy, CopyButton, useBusy } from '../parts/controls.tsx'
import { EndDialog, FormDialog } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { longTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import type { SendingDomain } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { texts as own } from './domains-texts.ts'

/** Limit of DNS lookups; receivers report a permanent error above it (RFC 7208 §4.6.4). */
const maxLookups = 10

const marks = { ok: 'ok', missing: 'warning', mismatch: 'failed', error: 'warning' } as const

export function DomainPage({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const read = useRead('/v1/domains/{id}', { path: { id } }, { isShown: true })
  const [isBusy, start] = useBusy()
  const [open, setOpen] = useState<'rotate' | 'end'>()
  const check = async (): Promise<void> => {
    try {
      await call('POST /v1/domains/{id}/verify', { path: { id } })
      read.reload()
      toast(w.checkedNow)
    } catch (error) {
      showFault(error)
    }
  }
  useKeys({ ...(mayAdminister.value && { r: () => start(check) }) }, [isBusy])
  const name = read.data?.domain ?? ''
  const heading = (
    <>
      <a href={link('/domains')}>{w.domains}</a>
      <span>{name}</span>
    </>
  )
  return (
    <>
      <TopBar title={name || w.domain} heading={heading}>
        {mayAdminister.value && read.data && (
          <button class="button" aria-disabled={isBusy} aria-keyshortcuts={keyFor('r')} onClick={() => start(check)}>
            <Icon name="refresh" />
            <span class="shell-label">{read.data.checked_at === null ? w.checkNow : w.checkAgain}</span>
          </button>
        )}
      </TopBar>
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.domainsFailed}>
          {(domain) => (
            <>
              <div class="say">
                <h2>{domainSay(domain)}</h2>
                <p>{domain.checked_at === null ? w.neverChecked : w.checkedAt({ at: longTime(domain.checked_at) })}</p>
              </div>
              <HealthLine health={domain.health} />
              <Records domain={domain} />
              <Doing domain={domain} onOpen={setOpen} />
            </>
          )}
        </Show>
      </div>
      {open === 'rotate' && <RotateKeys id={id} name={name} onClose={() => setOpen(undefined)} onDone={read.reload} />}
      {open === 'end' && <RemoveDomain id={id} name={name} onClose={() => setOpen(undefined)} />}
    </>
  )
}

interface DoingProps {
  readonly domain: SendingDomain
  readonly onOpen: (dialog: 'rotate' | 'end') => void
}

function Doing({ domain, onOpen }: DoingProps): JSX.Element {
  const w = texts()
  return (
    <div class="block">
      <div class="actions">
        <button class="button" onClick={() => void copy(zoneOf(domain))}>
          <Icon name="copy" />
          {w.copyZone}
        </button>
        {mayAdminister.value && (
          <button class="button" onClick={() => onOpen('rotate')}>
            {own().rotate}
          </button>
        )}
        {mayAdminister.value && (
          <button class="button danger" onClick={() => onOpen('end')}>
            {w.removeDomain}
          </button>
        )}
      </div>
    </div>
  )
}

interface RotateProps {
  readonly id: string
  readonly name: string
  readonly onClose: () => void
  readonly onDone: () => void
}

function RotateKeys({ id, name, onClose, onDone }: RotateProps): JSX.Element {
  const w = own()
  const rotate = async (): Promise<void> => {
    await call('POST /v1/domains/{id}/rotate-dkim', { path: { id } })
    onClose()
    onDone()
    toast(w.rotated)
  }
  return (
    <FormDialog title={w.rotateQuestion({ domain: name })} submit={w.rotate} onClose={onClose} onSubmit={rotate}>
      {() => <p>{w.rotateText}</p>}
    </FormDialog>
  )
}

const RemoveDomain = ({ id, name, onClose }: { readonly id: string; readonly name: string; readonly onClose: () => void }): JSX.Element => (
  <EndDialog
    title={texts().removeDomain}
    effects={[texts().removeDomainEffect]}
    name={name}
    submit={texts().removeDomain}
    onClose={onClose}
    onSubmit={async () => {
      await call('DELETE /v1/domains/{id}', { path: { id } })
      toast(texts().deleted({ name }))
      go(link('/domains'))
    }}
  />
)

function domainSay({ domain, records, checked_at: at }: SendingDomain): string {
  if (at === null) return own().unchecked({ domain })
  const open = records.filter(({ required, verdict }) => required && verdict !== 'ok').length
  return open === 0 ? texts().domainReady({ domain }) : texts().domainOpen({ domain, open })
}

const Records = ({ domain }: { readonly domain: SendingDomain }): JSX.Element => (
  <ul class="records">
    {domain.records.map(({ purpose, type, name, expected, required, found, verdict, hint, spf_lookups: lookups }) => (
      <li key={`${purpose} ${name}`}>
        <Mark name={verdict === null ? 'pending' : marks[verdict]} />
        <div>
          <h3>
            {purpose} <span class="tag">{type}</span> {!required && <span class="faint">{texts().optional}</span>}{' '}
            <span class="faint">{verdict ?? texts().notChecked}</span>
          </h3>
          <dl class="facts">
            <dt>{texts().name}</dt>
            <dd class="mono">
              {name} <CopyButton text={name} label={texts().copy} />
            </dd>
            <dt>{texts().expected}</dt>
            <dd class="mono">
              {expected} <CopyButton text={expected} label={texts().copy} />
            </dd>
            <dt>{texts().found}</dt>
            <dd class="mono">{found === null || found.length === 0 ? '–' : found.map((one) => <SafeText key={one} text={one} />)}</dd>
          </dl>
          {lookups !== null && <p class={lookups > maxLookups ? 'bad' : 'soft'}>{own().spfLookups({ n: lookups })}</p>}
          {verdict !== 'ok' && (
            <p class="soft" lang="en">
              {hint}
            </p>
          )}
        </div>
      </li>
    ))}
  </ul>
)

/** Returns the records as zone file lines. */
const zoneOf = ({ records }: SendingDomain): string =>
  records.map(({ name, type, expected }) => `${name}. IN ${type} ${type === 'TXT' ? JSON.stringify(expected) : expected}`).join('\n')
