// Long lists: only what is in sight exists.

import { useLayoutEffect, useState } from "/vendor/vendor.js";

/** Follows how far an element is scrolled and how large it is. */
export function useWindow(ref) {
  const [window, update] = useState({ top: 0, left: 0, height: 600, width: 800 });
  useLayoutEffect(() => {
    const element = ref.current;
    const look = () => update({ top: element.scrollTop, left: element.scrollLeft, height: element.clientHeight, width: element.clientWidth });
    look();
    element.addEventListener("scroll", look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => (element.removeEventListener("scroll", look), observer.disconnect());
  }, []);
  return window;
}
