/** Row of a setting: name, value or explanation, and its control. */
import type { ComponentChildren, JSX } from 'preact'

interface SettingProps {
  readonly name?: string
  readonly text: ComponentChildren
  readonly children?: ComponentChildren
}

export const Setting = ({ name, text, children }: SettingProps): JSX.Element => (
  <li>
    <div>
      {name !== undefined && <b>{name}</b>}
      <p class="soft">{text}</p>
    </div>
    {children}
  </li>
)
