/** Notice with the number of remote images in a message, and a button that loads them. */
import type { JSX } from 'preact'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'

interface RemoteImagesProps {
  readonly count: number
  readonly isLoaded: boolean
  readonly onLoad: () => void
}

export const RemoteImages = ({ count, isLoaded, onLoad }: RemoteImagesProps): JSX.Element | null =>
  count === 0 ? null : (
    <span class="remote">
      <Icon name="image" />
      {isLoaded ? texts().imagesLoaded({ count }) : texts().imagesNotLoaded({ count })}
      {!isLoaded && (
        <button class="as-link" onClick={onLoad}>
          {texts().loadOnce}
        </button>
      )}
    </span>
  )
