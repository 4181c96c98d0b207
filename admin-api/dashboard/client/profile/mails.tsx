/** Service mails to the user: mandatory ones, and optional ones with a checkbox. */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { link, organization } from '../app/location.ts'
import { mayChange, maySeeBilling } from '../app/permissions.ts'
import { showFault, useRead } from '../app/query.ts'
import { useBusy } from '../parts/controls.tsx'
import { toast } from '../parts/toast.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './profile-texts.ts'

export function Mails(): JSX.Element | null {
  const w = texts()
  return (
    <section aria-labelledby="profile-mails">
      <div class="head">
        <h2 id="profile-mails">{w.mails}</h2>
      </div>
      <ul class="setting-rows">
        <Mail name={w.mailSignIn} text={w.mailSignInText} />
        <Mail name={w.mailAccount} text={w.mailAccountText} />
        <Mail name={w.mailForms} text={w.mailFormsText} state={w.mailInForm}>
          {organization.value && <a href={link('/forms')}>{w.mailToForms}</a>}
        </Mail>
        {organization.value && <Choice of="approvals" may={mayChange.value} />}
        {organization.value && <Choice of="alerts" may={maySeeBilling.value} />}
      </ul>
    </section>
  )
}

interface MailProps {
  readonly name: string
  readonly text: string
  /** Replaces the checkbox. Defaults to the text for a mandatory mail. */
  readonly state?: ComponentChildren
  readonly children?: ComponentChildren
}

const Mail = ({ name, text, state = texts().mailAlways, children }: MailProps): JSX.Element => (
  <li>
    <div>
      <b>{name}</b>
      <p class="soft">
        {text} {children}
      </p>
    </div>
    <span class="faint">{state}</span>
  </li>
)

/** Choice for a kind of mail. Only roles that get the mail have a choice. */
function Choice({ of, may }: { readonly of: 'approvals' | 'alerts'; readonly may: boolean }): JSX.Element {
  const w = texts()
  const own = w.choices[of]
  const read = useRead('/v1/account/mail', {})
  const [isBusy, start] = useBusy()
  const [chosen, setChosen] = useState<boolean>()
  const set = (isOn: boolean): void => {
    setChosen(isOn)
    start(async () => {
      try {
        await call('PATCH /v1/account/mail', { body: { [of]: isOn } })
        toast(isOn ? own.on : own.off)
      } catch (error) {
        setChosen(!isOn)
        showFault(error)
      }
    })
  }
  if (!may) return <Mail name={own.name} text={own.text} state={w.mailOtherRole} />
  if (read.state === 'failed')
    return (
      <Mail
        name={own.name}
        text={w.mailFailed}
        state={
          <button class="button small" onClick={read.reload}>
            {allTexts().tryAgain}
          </button>
        }
      />
    )
  return (
    <li>
      <div>
        <b id={`mail-${of}`}>{own.name}</b>
        <p class="soft" id={`mail-${of}-text`}>
          {own.text}
        </p>
      </div>
      {read.data && (
        <label class="check">
          <input
            type="checkbox"
            aria-labelledby={`mail-${of}`}
            aria-describedby={`mail-${of}-text`}
            aria-disabled={isBusy}
            checked={chosen ?? read.data[of] === true}
            onChange={({ currentTarget }) => set(currentTarget.checked)}
          />
        </label>
      )}
    </li>
  )
}
