/** Passkeys and sessions of the user. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { showFault, type Reading } from '../app/query.ts'
import { useBusy } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { Show } from '../parts/states.tsx'
import { dateOnly, longTime, shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import type { Passkey, Session } from '../wire/api.d.ts'
import { Setting } from './setting.tsx'
import { texts } from './profile-texts.ts'

/** Browsers without WebAuthn Level 3 §5.1.9 cannot create passkeys from the options of the service. */
const canCreate = (): boolean => typeof PublicKeyCredential !== 'undefined' && 'parseCreationOptionsFromJSON' in PublicKeyCredential

interface PasskeysProps {
  readonly read: Reading<{ readonly data: readonly Passkey[] }>
  readonly areAvailable: boolean
}

/** Lists passkeys, and adds and removes them after a recent sign-in. */
export function Passkeys({ read, areAvailable }: PasskeysProps): JSX.Element {
  const w = texts()
  const [doing, setDoing] = useState<'add' | Passkey>()
  const end = (done: string) => (): void => {
    setDoing(undefined)
    read.reload()
    toast(done)
  }
  return (
    <section aria-labelledby="profile-passkeys">
      <div class="head">
        <h2 id="profile-passkeys">{w.passkeys}</h2>
        {areAvailable && canCreate() && (
          <button class="button small" onClick={() => setDoing('add')}>
            {w.addPasskey}
          </button>
        )}
      </div>
      <Show read={read} reload={read.reload} failure={w.passkeysFailed} rows={1}>
        {({ data }) => (
          <ul class="setting-rows">
            {data.length === 0 && <Setting text={areAvailable ? w.noPasskey : w.passkeysOff} />}
            {data.map((passkey) => (
              <Setting
                key={passkey.id}
                name={passkey.name}
                text={w.passkeyUse({
                  added: dateOnly(passkey.created_at),
                  used: passkey.last_used_at === null ? undefined : dateOnly(passkey.last_used_at),
                  isSynced: passkey.synced,
                })}
              >
                <button class="button small" aria-label={w.removePasskey({ name: passkey.name })} onClick={() => setDoing(passkey)}>
                  {w.remove}
                </button>
              </Setting>
            ))}
          </ul>
        )}
      </Show>
      {doing === 'add' && <AddPasskey onClose={() => setDoing(undefined)} onDone={end(w.passkeyAdded)} />}
      {typeof doing === 'object' && <RemovePasskey passkey={doing} onClose={() => setDoing(undefined)} onDone={end(w.passkeyRemoved)} />}
    </section>
  )
}

interface DoingProps {
  readonly onClose: () => void
  readonly onDone: () => void
}

function AddPasskey({ onClose, onDone }: DoingProps): JSX.Element {
  const w = texts()
  const [isMissing, setMissing] = useState(false)
  const create = async (): Promise<void> => {
    setMissing(false)
    const { options } = await call('POST /v1/account/passkeys/options', {})
    const credential = await created(options)
    if (credential === undefined) return setMissing(true)
    await call('POST /v1/account/passkeys', { body: { response: credential } })
    onDone()
  }
  return (
    <FormDialog title={w.addPasskey} submit={w.createPasskey} needsConfirmation onClose={onClose} onSubmit={create}>
      {() => (
        <>
          <p>{w.passkeysText}</p>
          {isMissing && (
            <p class="wrong" role="alert">
              {w.noneCreated}
            </p>
          )}
        </>
      )}
    </FormDialog>
  )
}

/** Asks the browser for a new passkey. Returns undefined if the user or the device refuses. */
async function created(options: object): Promise<Record<string, unknown> | undefined> {
  try {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON)
    const credential = await navigator.credentials.create({ publicKey })
    return (credential as PublicKeyCredential | null)?.toJSON() as Record<string, unknown> | undefined
  } catch {
    return undefined
  }
}

function RemovePasskey({ passkey: { id, name }, onClose, onDone }: DoingProps & { readonly passkey: Passkey }): JSX.Element {
  const w = texts()
  const remove = async (): Promise<void> => {
    await call('DELETE /v1/account/passkeys/{id}', { path: { id } })
    onDone()
  }
  return (
    <FormDialog title={w.removePasskey({ name })} submit={w.remove} isDangerous needsConfirmation onClose={onClose} onSubmit={remove}>
      {() => <p>{w.removePasskeyText}</p>}
    </FormDialog>
  )
}

/** Lists the browsers where the user is signed in, and ends their sessions. */
export function Sessions({ read }: { readonly read: Reading<{ readonly data: readonly Session[] }> }): JSX.Element {
  const w = texts()
  const [isBusy, start] = useBusy()
  const end = (request: () => Promise<unknown>): void =>
    start(async () => {
      try {
        await request()
        toast(w.sessionsEnded)
      } catch (error) {
        showFault(error)
      }
      read.reload()
    })
  const hasOthers = (read.data?.data ?? []).some(({ is_current: isCurrent }) => !isCurrent)
  return (
    <section aria-labelledby="profile-sessions">
      <div class="head">
        <h2 id="profile-sessions">{w.sessions}</h2>
        {hasOthers && (
          <button class="button small" aria-disabled={isBusy} onClick={() => end(() => call('DELETE /v1/account/sessions', {}))}>
            {w.endOthers}
          </button>
        )}
      </div>
      <Show read={read} reload={read.reload} failure={w.sessionsFailed} rows={1}>
        {({ data }) => (
          <ul class="setting-rows">
            {data.map((session) => (
              <SessionRow
                key={session.id}
                session={session}
                onEnd={() => end(() => call('DELETE /v1/account/sessions/{id}', { path: { id: session.id } }))}
              />
            ))}
          </ul>
        )}
      </Show>
    </section>
  )
}

function SessionRow({ session, onEnd }: { readonly session: Session; readonly onEnd: () => void }): JSX.Element {
  const w = texts()
  const { browser, system, method, created_at: since, last_seen_at: seen, is_current: isCurrent } = session
  const name = browser === null ? w.otherBrowser : system === null ? browser : w.browserOn({ browser, system })
  return (
    <Setting name={name} text={w.sessionUse({ since: longTime(since), by: method, seen: shortTime(seen) })}>
      {isCurrent ? (
        <span class="tag">{w.thisBrowser}</span>
      ) : (
        <button class="button small" aria-label={w.endSession({ browser: name })} onClick={onEnd}>
          {w.end}
        </button>
      )}
    </Setting>
  )
}
