/** Shell command that deploys a folder. */
import type { JSX } from 'preact'
import { CopyButton } from '../parts/controls.tsx'
import { texts } from '../texts/texts.ts'

export function DeployLine({ slug }: { readonly slug: string }): JSX.Element {
  const line = `npx postern deploy . --site ${slug}`
  return (
    <p class="command">
      <code>{line}</code> <CopyButton text={line} label={texts().copy} />
    </p>
  )
}
