/** The dialog that sends a test message, loaded when it opens. */
import { later } from '../app/later.tsx'

export const SendTest = later<{ readonly onClose: () => void }>(
  () => import('./send-test.tsx'),
  () => null,
)
