package shelf;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class LabelsTest {
    @Test
    public void titlesBeginWithACapital() {
        assertEquals("book: Emma", Labels.of("emma"));
    }
}
