/** Shows each chosen file with its full name, its size and a button to remove it. */
import { sizeIn } from '../scripts/sizes.ts'
import { all, element } from './dom.ts'
import type { FormState } from './form-state.ts'

/** Shows a row below the control when a file is chosen. */
export function showFiles({ form, plan }: FormState): void {
  const { remove: word, locale } = plan.texts
  for (const input of all<HTMLInputElement>(form, '[type=file]')) {
    const row = element('p', 'file')
    const [type, name, size] = [element('span', 'badge'), element('b'), element('span', 'note')]
    const remove = element('button', 'quiet', word)
    remove.type = 'button'
    remove.onclick = () => {
      input.value = ''
      input.dispatchEvent(new Event('input', { bubbles: true }))
      input.focus()
    }
    row.append(type, name, size, remove)
    input.parentElement?.after(row)
    const draw = (): void => {
      const file = input.files?.[0]
      row.hidden = !file
      input.classList.toggle('chosen', !!file)
      if (!file) return
      type.textContent = file.name.split('.').at(-1)?.slice(0, 4) ?? ''
      name.textContent = file.name
      remove.ariaLabel = `${word} ${file.name}`
      size.textContent = sizeIn(locale, file.size)
    }
    input.addEventListener('input', draw)
    draw()
  }
}
