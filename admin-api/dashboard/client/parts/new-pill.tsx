/** Button with the number of new entries. Pressing it shows them. */
import type { JSX } from 'preact'
import type { News } from '../app/new-entries.ts'
import { texts } from '../texts/texts.ts'
import { Icon } from './icon.tsx'

export function NewPill({ added, changed, onShow }: News & { readonly onShow: () => void }): JSX.Element {
  const w = texts()
  return (
    <div role="status" class="news">
      {added + changed > 0 && (
        <button class="new-pill" onClick={onShow}>
          <Icon name="up" />
          {added > 0 ? w.newOnes({ count: added }) : w.updatedOnes({ count: changed })}
        </button>
      )}
    </div>
  )
}
