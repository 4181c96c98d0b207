/** Notice with the number of remote images in a message, and a button that loads them. */
import type { JSX } from 'preact'
import { Icon } from '../parts/icon.tsx'
import { words } from '../words/words.ts'

interface RemoteImagesProps {
  readonly count: number
  readonly isLoaded: boolean
  readonly onLoad: () => void
}

export const RemoteImages = ({ count, isLoaded, onLoad }: RemoteImagesProps): JSX.Element | null =>
  count === 0 ? null : (
    <span class="remote">
      <Icon name="image" />
      {isLoaded ? words().imagesLoaded({ count }) : words().imagesNotLoaded({ count })}
      {!isLoaded && (
        <button class="as-link" onClick={onLoad}>
          {words().loadOnce}
        </button>
      )}
    </span>
  )
