/** Recipients of a message: the first ones, the number of the remaining ones, and all in the tooltip. */
import type { JSX } from 'preact'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { texts } from '../texts/texts.ts'

const shown = 4

export const Recipients = ({ all }: { readonly all: readonly string[] }): JSX.Element => (
  <span title={all.length > shown ? plain(all.join(', ')) : undefined}>
    <b class="ink">
      <SafeText text={all.slice(0, shown).join(', ')} />
    </b>
    {all.length > shown && ` ${texts().andMore({ count: all.length - shown })}`}
  </span>
)
