/** States of lists and screens: empty, no match, loading, failed, not allowed. */
import type { ComponentChildren, JSX } from 'preact'
import { boot } from '../app/boot.ts'
import { address, link, organization } from '../app/location.ts'
import type { ApiFault } from '../app/api.ts'
import type { Read } from '../app/query.ts'
import { texts } from '../texts/shell-texts.ts'
import { copy } from './controls.tsx'
import { Icon } from './icon.tsx'
import { Facts } from './safe-text.tsx'

const Drawing = ({ sign }: { readonly sign?: 'cross' | 'lock' }): JSX.Element => (
  <svg class="drawing" viewBox="0 0 88 64" aria-hidden="true">
    <path class="thin" d="M4 58h80" />
    <path d="M24 58V26a20 20 0 0 1 40 0v32" />
    <path class="thin" d="M32 58V27a12 12 0 0 1 24 0v31" />
    {sign === undefined && <path class="dots" d="M2 40h12m60 0h12" />}
    {sign === 'cross' && <path d="m39 36 10 10m0-10L39 46" stroke="var(--bad)" />}
    {sign === 'lock' && <path d="M38 42h12v9H38zm2.500 0v-3a3.500 3.500 0 0 1 7 0v3" />}
  </svg>
)

interface StateProps {
  readonly title: string
  readonly text?: ComponentChildren
  readonly drawing?: JSX.Element
  readonly children?: ComponentChildren
}

export const State = ({ title, text, drawing, children }: StateProps): JSX.Element => (
  <div class="state">
    {drawing ?? <Drawing />}
    <h2>{title}</h2>
    {text !== undefined && <p>{text}</p>}
    {children}
  </div>
)

interface NothingMatchesProps {
  /** URL of the list without filters. */
  readonly all: string
  readonly title?: string
  readonly text?: string
  /** Loads the next page. A filtered page can be empty although later pages are not. */
  readonly more?: (() => void) | undefined
}

/** No row matches the filter. */
export function NothingMatches({ all, title, text, more }: NothingMatchesProps): JSX.Element {
  const w = texts()
  return (
    <State title={title ?? w.nothingMatches} text={text ?? w.nothingMatchesText} drawing={<Icon name="search" />}>
      <div class="actions">
        {more && (
          <button class="button" onClick={more}>
            {w.older}
          </button>
        )}
        <a class="button" href={all}>
          {w.clearAll}
        </a>
      </div>
    </State>
  )
}

/** Placeholder rows. They become visible only after a delay. */
export const Loading = ({ rows = 8 }: { readonly rows?: number }): JSX.Element => (
  <div class="loading" role="status">
    <span class="hidden">{texts().loading}</span>
    {Array.from({ length: rows }, (_, i) => (
      <div key={i} aria-hidden="true">
        <i />
        <i />
        <i />
        <i />
      </div>
    ))}
  </div>
)

/** Placeholder of a text in a line, visible only after a delay. */
export const Bone = ({ isLong = false }: { readonly isLong?: boolean }): JSX.Element => (
  <span class={isLong ? 'bone loading long' : 'bone loading'} aria-hidden="true">
    <i />
  </span>
)

/** Placeholder of a heading. */
export const HeadingBone = (): JSX.Element => (
  <>
    <span class="hidden">{texts().loading}</span>
    <Bone isLong />
  </>
)

/** Error message of the service, in English. A missing response is reported in the current language. */
export const FaultText = ({ fault: { code, message } }: { readonly fault: ApiFault }): JSX.Element => (
  <span lang={code === 'unreachable' ? undefined : 'en'}>{message}</span>
)

/** Whether the session has ended. After a sign-in in another tab, an open dialog can be submitted again. */
export const isSignedOut = ({ nextAction, status }: ApiFault): boolean =>
  nextAction === 'sign_in' || (status === 401 && nextAction !== 'sign_in_again')

/** Error state: the error, unaffected functions, and the next step. */
function Failed({ fault, what, retry }: { readonly fault: ApiFault; readonly what: string; readonly retry: () => void }): JSX.Element {
  const w = texts()
  if (isSignedOut(fault)) return <SignedOut />
  if (fault.code === 'insufficient_scope') return <NotAllowed fault={fault} />
  if (fault.nextAction === 'sign_in_again') return <Confirm />
  const facts = [
    ['code', fault.code],
    ['HTTP', fault.status === 0 ? '–' : String(fault.status)],
    ['next_action', fault.nextAction],
    ['request', fault.requestId || '–'],
  ] as const
  return (
    <div role="alert">
      <State title={what} text={<FaultText fault={fault} />} drawing={<Drawing sign="cross" />}>
        <Facts rows={facts} />
        <div class="actions">
          <button class="button primary" onClick={retry}>
            {w.tryAgain}
          </button>
          <button class="button" onClick={() => void copy(facts.map((fact) => fact.join(': ')).join('\n'))}>
            <Icon name="copy" />
            {w.copyDetails}
          </button>
        </div>
      </State>
    </div>
  )
}

/**
 * Explains the missing permission: the user's role, the required scope, and the person to ask. `fault` is the error response, if there was
 * one.
 */
export function NotAllowed({ fault, says }: { readonly fault?: ApiFault; readonly says?: string }): JSX.Element {
  const w = texts()
  const { name = '', role = '' } = organization.value ?? {}
  const scope = fault?.details['required_scope']
  const text = (
    <>
      {w.yourRole({ role, name })} {typeof scope === 'string' ? w.needsScope : (says ?? (fault && <span lang="en">{fault.message}</span>))}
    </>
  )
  return (
    <State title={w.notAllowed} text={text} drawing={<Drawing sign="lock" />}>
      {typeof scope === 'string' && <code class="tag">{scope}</code>}
      <p>
        <a href={link('/settings/members')}>{w.whoToAsk}</a>
      </p>
    </State>
  )
}

export const signInAddress = (isAgain: boolean): string =>
  `/sign-in?${new URLSearchParams({ ...(isAgain && { again: '1' }), next: address.value.pathname + address.value.search }).toString()}`

const SignedOut = (): JSX.Element => (
  <State title={texts().signedOut} text={texts().signedOutText} drawing={<Drawing sign="lock" />}>
    <div class="actions">
      <a class="button primary" href={signInAddress(false)}>
        {texts().signIn}
      </a>
    </div>
  </State>
)

/** Asks for a recent sign-in, then returns to this screen. */
export const Confirm = (): JSX.Element => (
  <State title={texts().confirmFirst} text={texts().confirmFirstText({ email: boot.email })} drawing={<Drawing sign="lock" />}>
    <div class="actions">
      <a class="button primary" href={signInAddress(true)}>
        {texts().confirm}
      </a>
    </div>
  </State>
)

interface ShowProps<T> {
  readonly read: Read<T>
  readonly reload: () => void
  /** Error text of this screen. */
  readonly failure: string
  readonly rows?: number
  readonly children: (data: T) => ComponentChildren
}

/** Renders the data, or its loading or error state. The shell reports an unreachable service. */
export function Show<T>({ read, reload, failure, rows, children }: ShowProps<T>): JSX.Element {
  if (read.state === 'failed' && read.data === undefined) return <Failed fault={read.fault} what={failure} retry={reload} />
  if (read.data === undefined) return <Loading {...(rows !== undefined && { rows })} />
  return <>{children(read.data)}</>
}
