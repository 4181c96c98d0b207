/** Screen for one kind of credentials: their list, the form for a new one, and the dialog that shows a secret once. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { go, linkHere, projectId } from '../app/location.ts'
import { isMakingNew, mayChange } from '../app/permissions.ts'
import type { Listing } from '../app/query.ts'
import { Icon } from '../parts/icon.tsx'
import { SecretDialog, type Secret } from '../parts/secret-dialog.tsx'
import { TopBar } from '../parts/top-bar.tsx'

export interface SecretsProps<T> {
  readonly list: Listing<T>
  readonly isMaking: boolean
  readonly onClose: () => void
  readonly onSecret: (secret: Secret) => void
}

interface ScreenProps<T> {
  readonly title: string
  /** Label of the creation form. */
  readonly makes: string
  readonly list: Listing<T>
  readonly children: (props: SecretsProps<T>) => JSX.Element
}

/** Returns the first page of the credentials of the chosen project. */
export const firstPage = () => ({ query: { ...(projectId.value !== undefined && { project: projectId.value }) } })

export function SecretsScreen<T>({ title, makes, list, children }: ScreenProps<T>): JSX.Element {
  const [secret, setSecret] = useState<Secret>()
  const close = (): void => go(linkHere({ new: '' }), { replaces: true })
  const show = (made: Secret): void => {
    close()
    setSecret(made)
    list.reload()
  }
  return (
    <>
      <TopBar title={title}>
        {mayChange.value && (
          <a class="button primary" href={linkHere({ new: '1', edit: '' })}>
            <Icon name="plus" />
            <span class="shell-label">{makes}</span>
          </a>
        )}
      </TopBar>
      <div class="sheet">{children({ list, isMaking: isMakingNew(mayChange), onClose: close, onSecret: show })}</div>
      {secret && <SecretDialog secret={secret} onDone={() => setSecret(undefined)} />}
    </>
  )
}
