/** A module without tests. */
import '#test'
