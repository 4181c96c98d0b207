/** Picture of a website, the door of this service, and customers. The text below states the same. */
import type { ComponentChildren, JSX } from 'preact'

interface GateProps {
  /** Whether mail passes the door. */
  readonly isOpen?: boolean
  /** Four texts below: the website, its mail, the door and the customers. */
  readonly children: ComponentChildren
}

export const Gate = ({ isOpen = false, children }: GateProps): JSX.Element => (
  <figure class={isOpen ? 'gate open' : 'gate'}>
    <svg viewBox="0 0 700 150" aria-hidden="true">
      <path class="wall" d="M0 132h700" />
      <rect class="thin" x="8" y="64" width="120" height="68" rx="5" />
      <path class="thin" d="M8 80h120M22 94h60m-60 12h84m-84 12h60" />
      <path class="go" d="M146 104h108" />
      <path class="wall" d="M274 132V16h186v116M264 6h206v10H264z" />
      <path
        class="thin"
        d="M274 40h186M274 68h40m106 0h40M274 96h40m106 0h40M310 16v24m60-24v24m50-24v24M294 40v28m146-28v28M300 68v28m140-28v28M294 96v36m146-36v36"
      />
      {isOpen ? (
        <>
          <path class="doorway" d="M322 132V82a45 45 0 0 1 90 0v50z" />
          <path class="leaf" d="m412 66 18 14v62l-18-10z" />
          <rect class="letter" x="346" y="90" width="42" height="28" rx="3" />
          <path class="letter" d="m347 92 20 16 20-16" />
        </>
      ) : (
        <>
          <rect class="letter" x="178" y="90" width="42" height="28" rx="3" />
          <path class="letter" d="m179 92 20 16 20-16" />
          <path class="door" d="M322 132V82a45 45 0 0 1 90 0v50z" />
          <path class="hinge" d="M322 72h18m-18 40h18" />
          <circle class="knob" cx="399" cy="96" r="4" />
        </>
      )}
      <path class={isOpen ? 'go' : 'wait'} d="M484 104h90" />
      <rect class="thin" x="582" y="92" width="108" height="40" />
      <path class="thin" d="m582 92 54 26 54-26" />
    </svg>
    <figcaption>{children}</figcaption>
  </figure>
)
